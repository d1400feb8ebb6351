"""Part of a sample."""

from dataclasses import dataclass, replace

from datasets.sample import Sample
from icb import Camera


@dataclass(frozen=True)
class Crop:
    """Rows and columns of a picture."""

    top: int
    left: int
    height: int
    width: int

    @classmethod
    def central(cls, size: tuple[int, int], wanted: tuple[int, int]) -> "Crop":
        """The middle of a picture of ``size``, at most all of it."""
        height, width = min(size[0], wanted[0]), min(size[1], wanted[1])
        return cls((size[0] - height) // 2, (size[1] - width) // 2, height, width)


def cropped(sample: Sample, crop: Crop | None) -> Sample:
    """The sample as if the camera had seen no more than this; None is all of it."""
    if crop is None:
        return sample
    rows, columns = slice(crop.top, crop.top + crop.height), slice(crop.left, crop.left + crop.width)
    camera = sample.camera
    return replace(
        sample,
        sharp=sample.sharp[rows, columns],
        blurry=sample.blurry[rows, columns],
        depth=sample.depth[rows, columns],
        camera=Camera(camera.fx, camera.fy, camera.cx - crop.left, camera.cy - crop.top),
    )
