"""The pinhole camera."""

import math
from dataclasses import dataclass

import numpy as np

from icb.errors import InputError


@dataclass(frozen=True)
class Camera:
    """Intrinsics in pixels, OpenCV axes (x right, y down, z forward), pixel centres at integers."""

    fx: float
    fy: float
    cx: float
    cy: float

    def __post_init__(self) -> None:
        for name in ("fx", "fy", "cx", "cy"):
            value = getattr(self, name)
            try:
                number = float(value)
            except (TypeError, ValueError):
                raise InputError(f"camera {name}: got {value!r}, expected a number of pixels") from None
            if not math.isfinite(number) or (name in ("fx", "fy") and number <= 0):
                wanted = "a positive number" if name in ("fx", "fy") else "a finite number"
                raise InputError(f"camera {name}: got {value!r}, expected {wanted} of pixels")
            object.__setattr__(self, name, number)

    @classmethod
    def centred(cls, focal: float, width: int, height: int) -> "Camera":
        """Square pixels, focal length in pixels, principal point in the middle of the image."""
        return cls(focal, focal, (width - 1) / 2, (height - 1) / 2)

    @classmethod
    def from_fov(cls, degrees: float, width: int, height: int) -> "Camera":
        """Horizontal field of view: ``f = W / (2 tan(fov / 2))``."""
        if not 0 < degrees < 180:
            raise InputError(f"field of view: got {degrees} degrees, expected between 0 and 180")
        return cls.centred(width / (2 * math.tan(math.radians(degrees) / 2)), width, height)

    @classmethod
    def from_matrix(cls, matrix: np.ndarray) -> "Camera":
        """From a 3x3 matrix without skew."""
        matrix = np.asarray(matrix, np.float64)
        if matrix.shape != (3, 3):
            raise InputError(f"camera matrix: got shape {matrix.shape}, expected (3, 3)")
        if abs(matrix[0, 1]) > 1e-6 * abs(matrix[0, 0]):
            raise InputError(f"camera matrix: got skew {matrix[0, 1]}, expected 0")
        return cls(matrix[0, 0], matrix[1, 1], matrix[0, 2], matrix[1, 2])

    @property
    def matrix(self) -> np.ndarray:
        """C, 3x3."""
        return np.array([[self.fx, 0, self.cx], [0, self.fy, self.cy], [0, 0, 1]], np.float64)

    def scaled(self, sx: float, sy: float | None = None) -> "Camera":
        """Intrinsics of the image resized by ``sx`` and ``sy``: ``f' = s f``, ``c' = s (c + 0.5) - 0.5``."""
        sy = sx if sy is None else sy
        return Camera(sx * self.fx, sy * self.fy, sx * (self.cx + 0.5) - 0.5, sy * (self.cy + 0.5) - 0.5)
