"""What every blur model offers: a linear operator on numpy pictures and torch tensors, and its adjoint."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Literal

import numpy as np

from icb.camera import Camera
from icb.checks import FLOATS
from icb.errors import InputError
from icb.patches import BlurPatch, Image, Span, check_patch, padded_shape, whole_patch
from icb.trajectory import Trajectory

if TYPE_CHECKING:
    import torch

Backend = Literal["auto", "compiled", "torch"]


class BlurOperator(ABC):
    """A linear blur of images of one size, built once and applied many times.

    ``y = blur(x)`` takes numpy ``(H, W)`` or ``(H, W, C)``, or torch ``(..., H, W)`` such as
    ``(B, 3, H, W)``, in float32 or float64, and returns the same kind; torch results are on the same
    device and differentiable in ``x``. ``blur.adjoint(y)`` is the exact transpose, borders included.

    Subclasses implement :meth:`apply_planes` (compiled, on the CPU) and :meth:`apply_tensor` (torch, on
    any device). ``backend`` picks one; ``"auto"`` compiles on the CPU and uses torch elsewhere.
    """

    shape: tuple[int, int]
    backend: Backend

    def __init__(self, shape: tuple[int, int], backend: Backend) -> None:
        if backend not in ("auto", "compiled", "torch"):
            raise InputError(f"backend: got {backend!r}, expected 'auto', 'compiled' or 'torch'")
        self.shape = shape
        self.backend = backend

    @property
    @abstractmethod
    def radius(self) -> tuple[int, int]:
        """The largest displacement in rows and columns, in pixels."""

    @abstractmethod
    def apply_planes(self, source: np.ndarray, channels: int, adjoint: bool) -> np.ndarray:
        """Blur ``(planes, H, W * channels)`` with channels interleaved."""

    @abstractmethod
    def apply_tensor(self, source: torch.Tensor, adjoint: bool) -> torch.Tensor:
        """Blur ``(planes, H * W)`` on the tensor's device."""

    def __call__(self, x: Image) -> Image:
        """Blur an image."""
        return self._apply(x, adjoint=False)

    def adjoint(self, y: Image) -> Image:
        """The transpose of the blur: ``<blur(x), y> = <x, adjoint(y)>``."""
        return self._apply(y, adjoint=True)

    def patch(self, rows: Span, columns: Span) -> BlurPatch:
        """The operator's rows for pixels ``rows[0]:rows[1], columns[0]:columns[1]``, as an operator of its own.

        It takes the sharp picture as far as :attr:`radius` beyond the patch, over the image's border too,
        where the operator as a whole replicates. Without a :meth:`part`, the whole picture is blurred and
        replicated still.
        """
        check_patch(self.shape, rows, columns)
        part = self.part(rows, columns)
        if part is None:
            return whole_patch(self, rows, columns)
        shape = (rows[1] - rows[0], columns[1] - columns[0])
        part.shape = padded_shape(shape, self.radius)
        return BlurPatch(part, shape, self.radius, origin=(0, 0))

    def part(self, rows: Span, columns: Span) -> BlurOperator | None:
        """A copy that blurs padded patches alone, but for its shape; None, the default, if there is no such thing.

        Its pixels ``(row, column)`` are those of the whole at ``(row + rows[0] - down, column + columns[0] - right)``,
        and only those inside the patch matter: the others may become anything.
        """
        return None

    def _apply(self, image: Image, adjoint: bool) -> Image:
        if isinstance(image, np.ndarray):
            return self._apply_numpy(image, adjoint)
        if type(image).__module__.partition(".")[0] == "torch" or hasattr(image, "__torch_function__"):
            from icb.autograd import apply_linear

            return apply_linear(self, image, adjoint)
        raise InputError(f"image: got {type(image).__name__}, expected a numpy array or a torch tensor")

    def _apply_numpy(self, image: np.ndarray, adjoint: bool) -> np.ndarray:
        if image.ndim not in (2, 3) or image.shape[:2] != self.shape or image.size == 0:
            expected = f"({self.shape[0]}, {self.shape[1]}, 3) as the depth map"
            raise InputError(f"image: got shape {image.shape}, expected {expected}")
        native = image.dtype.newbyteorder("=")
        if native not in FLOATS:
            raise InputError(f"image: got {image.dtype}, expected float32 or float64 between 0 and 1")
        height, width = self.shape
        channels = image.shape[2] if image.ndim == 3 else 1
        # Native, contiguous and writable: compiled code is made for one kind of array only.
        planes = np.require(image, native, ["C", "W"]).reshape(1, height, width * channels)
        if self.backend == "torch":
            import torch

            tensor = torch.from_numpy(np.ascontiguousarray(planes.reshape(-1, channels).T))
            blurred = self.apply_tensor(tensor, adjoint).numpy().T
            return np.ascontiguousarray(blurred).reshape(image.shape)
        return self.apply_planes(planes, channels, adjoint).reshape(image.shape)


def check_motion(trajectory: Trajectory, camera: Camera) -> None:
    """Refuse what is no trajectory or camera with a word rather than a traceback from deep inside."""
    if not isinstance(trajectory, Trajectory):
        raise InputError(f"trajectory: got {type(trajectory).__name__}, expected icb.Trajectory(poses)")
    if not isinstance(camera, Camera):
        raise InputError(f"camera: got {type(camera).__name__}, expected icb.Camera(fx, fy, cx, cy)")
