"""Textures: scikit-image's bundled photographs and procedural patterns, each with its mip levels.

All textures are square, ``SIZE`` texels wide, and packed into one array so that compiled code can look
them up by number. Colours are as displayed (sRGB-encoded, 0 to 255): nothing here is in linear light.
"""

from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np

from datasets.simulate.patterns import PATTERNS, SIZE
from icb.errors import InputError

LEVELS = 10
"""Mip levels: 512, 256, ... 1 texels wide."""

PHOTOS = {
    "astronaut": "astronaut.png",
    "brick": "brick.png",
    "cat": "chelsea.png",
    "coffee": "coffee.png",
    "coins": "coins.png",
    "grass": "grass.png",
    "gravel": "gravel.png",
    "hubble": "hubble_deep_field.jpg",
    "moon": "moon.png",
    "motorcycle": "motorcycle_left.png",
    "page": "page.png",
    "retina": "retina.jpg",
    "rocket": "rocket.jpg",
    "text": "text.png",
}
"""Those that come inside scikit-image's wheel; nothing is downloaded."""


def names() -> list[str]:
    """Every texture, in the order of their numbers."""
    return [*PHOTOS, *PATTERNS]


def number(name: str) -> int:
    """The number of a texture in :func:`atlas`."""
    try:
        return names().index(name)
    except ValueError:
        raise InputError(f"texture: got {name!r}, expected one of {', '.join(names())}") from None


@lru_cache(maxsize=1)
def atlas() -> tuple[np.ndarray, np.ndarray]:
    """``(texels, offsets)``: (textures, texels of all levels, 3) uint8, and where each level begins."""
    offsets = np.cumsum([0] + [(SIZE >> level) ** 2 for level in range(LEVELS)])
    texels = np.empty((len(names()), offsets[-1], 3), np.uint8)
    for index, name in enumerate(names()):
        image = texture(name).astype(np.float32)
        for level in range(LEVELS):
            # Each level is made from floats: rounding does not add up.
            rounded = np.floor(image + 0.5).astype(np.uint8)
            texels[index, offsets[level] : offsets[level + 1]] = rounded.reshape(-1, 3)
            if level + 1 < LEVELS:
                half = image.shape[0] // 2
                image = image.reshape(half, 2, half, 2, 3).mean((1, 3))
    texels.setflags(write=False)
    return texels, offsets[:-1].astype(np.int64)


def texture(name: str) -> np.ndarray:
    """One texture, (SIZE, SIZE, 3) uint8 RGB."""
    if name in PHOTOS:
        return _photo(PHOTOS[name])
    number(name)
    random = np.random.default_rng(list(name.encode()))
    return np.asarray(np.floor(np.clip(PATTERNS[name](random), 0, 1) * 255 + 0.5).astype(np.uint8))


def _photo(file: str) -> np.ndarray:
    import skimage.data
    from skimage.io import imread

    image = imread(Path(skimage.data.__file__).parent / file)
    if image.ndim == 2:
        image = np.repeat(image[..., None], 3, axis=2)
    return np.asarray(cv2.resize(image[..., :3], (SIZE, SIZE), interpolation=cv2.INTER_AREA))
