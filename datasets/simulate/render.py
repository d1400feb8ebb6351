"""Pictures and depth maps of a scene."""

import math

import numpy as np

import icb
from datasets.simulate import compiled, textures
from datasets.simulate.model import Scene
from icb import threads
from icb.errors import InputError

ROWS = 8
"""Rows a thread takes at a time."""
MOST_RAYS = 1 << 20
"""Rays cast at a time: memory does not grow with the picture."""

Size = tuple[int, int]


def strata(samples: int) -> tuple[int, int]:
    """``(across, down)``: the most square way to cut a pixel into so many parts."""
    down = max(part for part in range(1, math.isqrt(samples) + 1) if samples % part == 0)
    return samples // down, down


def check_samples(samples: int) -> None:
    """Refuse numbers of samples that make no sense."""
    if not 1 <= samples <= 256:
        raise InputError(f"samples per pixel: got {samples}, expected 1 to 256")


def render(
    scene: Scene, camera: icb.Camera, camera_to_world: np.ndarray, size: Size, *, samples: int = 4, seed: int = 0
) -> np.ndarray:
    """The picture (H, W, 3), uint8 RGB, with ``samples`` per pixel, averaged as displayed.

    ``camera_to_world`` is 4x4 with axes x right, y up, z forward for both. The same arguments give the
    same bytes, whatever the number of threads.
    """
    height, width = size
    texels, offsets = textures.atlas()
    sky = np.array([scene.light.zenith, scene.light.horizon], np.float32)
    spread = 1 / math.sqrt(camera.fx * camera.fy * samples)
    picture = np.empty((height, width, 3), np.float32)
    for first, last in _blocks(height, width * samples):
        rays, hits = _cast(scene, camera, camera_to_world, (first, last), width, samples, seed)

        def shade(index: int, first: int = first, last: int = last, rays: np.ndarray = rays,
                  hits: tuple[np.ndarray, ...] = hits) -> None:  # fmt: skip
            top = index * ROWS
            bottom = min(top + ROWS, last - first)
            compiled.shade(
                picture[first:last], top, bottom, rays, *hits, scene.corners, scene.materials, scene.tints,
                texels, offsets, spread, sky, scene.light.haze,
            )  # fmt: skip

        threads.each_band(shade, range(-(-(last - first) // ROWS)))
    return np.asarray(np.floor(picture * np.float32(255) + np.float32(0.5)).astype(np.uint8))


def cast_depth(scene: Scene, camera: icb.Camera, camera_to_world: np.ndarray, size: Size) -> np.ndarray:
    """Depth along the optical axis at the pixel centres, (H, W) float32 metres, ``inf`` where nothing is."""
    return cast_surface(scene, camera, camera_to_world, size)[0]


def cast_surface(
    scene: Scene, camera: icb.Camera, camera_to_world: np.ndarray, size: Size
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``(depth, slant, triangle)`` at the pixel centres; slant is |cos| of the angle to the surface's normal."""
    height, width = size
    depth = np.empty(size, np.float32)
    slant = np.empty(size, np.float32)
    triangle = np.empty(size, np.uint32)
    for first, last in _blocks(height, width):
        rays, (t, number, _, normal) = _cast(scene, camera, camera_to_world, (first, last), width, 1, 0)
        direction = rays[:, :, 0, 3:]
        cosine = np.einsum("ijk,ijk->ij", normal[:, :, 0], direction) / np.linalg.norm(direction, axis=-1)
        depth[first:last], triangle[first:last] = t[..., 0], number[..., 0]
        slant[first:last] = np.abs(cosine)
    return depth, slant, triangle


def _blocks(height: int, rays_per_row: int) -> list[tuple[int, int]]:
    rows = max(1, MOST_RAYS // rays_per_row)
    return [(first, min(first + rows, height)) for first in range(0, height, rows)]


def _cast(
    scene: Scene,
    camera: icb.Camera,
    camera_to_world: np.ndarray,
    rows: tuple[int, int],
    width: int,
    samples: int,
    seed: int,
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Rays of some rows and what they hit: depth, triangle, place inside it, its normal."""
    import open3d

    first, last = rows
    rays = np.empty((last - first, width, samples, 6), np.float32)
    intrinsics = np.array([camera.fx, camera.fy, camera.cx, camera.cy])
    pose = np.ascontiguousarray(camera_to_world, np.float64)
    across, down = strata(samples)

    def fill(index: int) -> None:
        top = index * ROWS
        bottom = min(top + ROWS, last - first)
        compiled.make_rays(rays, top, bottom, first, intrinsics, pose, across, down, seed)

    threads.each_band(fill, range(-(-(last - first) // ROWS)))
    hit = scene.caster.cast_rays(open3d.core.Tensor.from_numpy(rays), nthreads=threads.num_threads())
    names = ("t_hit", "primitive_ids", "primitive_uvs", "primitive_normals")
    return rays, tuple(hit[name].numpy() for name in names)
