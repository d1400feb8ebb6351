"""Pictures that only the report has: errors, depth and layers in colours, and thumbnails."""

import os
from functools import cache

import cv2
import numpy as np
from matplotlib import colormaps

from icb import InputError, files
from icb.figures.style import DEPTH_COLOURS, ERROR_COLOURS, LAYER_COLOURS

THUMBNAIL = 320
"""Pixels along the longer side of a thumbnail."""

QUALITY = 82


def error_picture(error: np.ndarray, scale: float) -> np.ndarray:
    """Errors (H, W) from 0, black, to ``scale`` and beyond, as RGB."""
    return _coloured(error / scale, ERROR_COLOURS)


def depth_picture(depth: np.ndarray) -> np.ndarray:
    """Depth (H, W) as RGB, on a logarithmic scale from the nearest to the farthest; black is infinitely far."""
    finite = np.isfinite(depth)
    if not finite.any():
        return np.zeros((*depth.shape, 3), np.uint8)
    low, high = np.log(depth[finite].min()), np.log(depth[finite].max())
    scaled = (np.log(np.where(finite, depth, 1.0)) - low) / max(high - low, 0.01)
    return np.where(finite[..., None], _coloured(scaled, DEPTH_COLOURS), np.uint8(0))


def layer_picture(labels: np.ndarray, count: int) -> np.ndarray:
    """Labels (H, W) of ``count`` layers, from far to near, as RGB."""
    return _coloured(labels / max(count - 1, 1), LAYER_COLOURS)


def _coloured(values: np.ndarray, colours: str) -> np.ndarray:
    """Values (H, W), of which those between 0 and 1 have a colour of their own, as RGB."""
    places = np.clip(values * 255 + 0.5, 0, 255).astype(np.uint8)
    return np.asarray(_table(colours)[places])


@cache
def _table(colours: str) -> np.ndarray:
    return np.asarray(colormaps[colours](np.arange(256) / 255, bytes=True)[:, :3])


def thumbnail(picture: np.ndarray) -> np.ndarray:
    """A small version of (H, W, 3), never larger than the original."""
    height, width = picture.shape[:2]
    scale = min(1.0, THUMBNAIL / max(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA))


def write_webp(path: str | os.PathLike[str], picture: np.ndarray, *, exact: bool = False) -> None:
    """Write RGB (H, W, 3) uint8; ``exact`` for what is looked at pixel by pixel."""
    quality = 101 if exact else QUALITY  # OpenCV takes more than 100 for lossless
    done, encoded = cv2.imencode(".webp", picture[..., ::-1], [cv2.IMWRITE_WEBP_QUALITY, quality])
    if not done:
        raise InputError(f"{path}: cannot hold a picture of {picture.shape[0]} x {picture.shape[1]} pixels")
    files.write(path, lambda temporary: temporary.write_bytes(encoded.tobytes()))
