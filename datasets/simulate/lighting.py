"""Light at the vertices: sun and lamps with shadows, and sky darkened by what is near.

It is worked out once per scene, so that a sample of a picture costs one ray.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from datasets.simulate.shapes import Mesh

if TYPE_CHECKING:
    import open3d

    from datasets.simulate.model import Light

DIRECTIONS = 14
LIFT = 2e-3
"""Rays start this far off the surface (metres), lest they meet the surface itself."""


def bake(caster: open3d.t.geometry.RaycastingScene, mesh: Mesh, light: Light) -> np.ndarray:
    """Red, green and blue light on each vertex, (V, 3); a white surface in full light shows about 1."""
    points = _inner_points(mesh) + LIFT * mesh.normals
    normals = mesh.normals
    open_share = 1 - _occlusion(caster, points, normals, light.reach)
    # Half of the sky's light comes from above, a little from the ground.
    up = 0.72 + 0.28 * normals[:, 1]
    total = np.outer(open_share * up, light.sky)
    towards = np.asarray(light.towards_sun, np.float64)
    towards = towards / np.linalg.norm(towards)
    if max(light.sun) > 0:
        slope = np.maximum(normals @ towards, 0)
        seen = ~_blocked(caster, points, np.tile(towards, (len(points), 1)), np.inf)
        total += np.outer(slope * seen, light.sun)
    for position, colour in light.lamps:
        ray = np.asarray(position) - points
        distance = np.linalg.norm(ray, axis=1)
        slope = np.maximum(np.einsum("ij,ij->i", normals, ray) / distance, 0)
        seen = ~_blocked(caster, points, ray, 0.98)
        # Softer than the inverse square, as many bounces of light make it in a room.
        total += np.outer(slope * seen / (0.5 + 0.5 * distance**1.5), colour)
    return total.astype(np.float32)


def _inner_points(mesh: Mesh) -> np.ndarray:
    """Vertices moved a little into one of their triangles, away from the neighbour behind the edge."""
    inner = mesh.vertices.copy()
    middles = mesh.vertices[mesh.triangles].mean(1)
    for corner in range(3):
        index = mesh.triangles[:, corner]
        inner[index] = 0.93 * mesh.vertices[index] + 0.07 * middles
    return inner


def _occlusion(
    caster: open3d.t.geometry.RaycastingScene, points: np.ndarray, normals: np.ndarray, reach: float
) -> np.ndarray:
    """Share of the hemisphere that is hidden within ``reach`` metres, near things counting more."""
    import open3d

    side = np.cross(normals, np.where(np.abs(normals[:, :1]) < 0.8, [[1.0, 0, 0]], [[0, 1.0, 0]]))
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    other = np.cross(normals, side)
    total = np.zeros(len(points))
    for index in range(DIRECTIONS):
        share = (index + 0.5) / DIRECTIONS
        radius, angle = np.sqrt(share), index * 2.399963  # cosine-weighted spiral of the golden angle
        direction = radius * np.cos(angle) * side + radius * np.sin(angle) * other + np.sqrt(1 - share) * normals
        rays = np.concatenate([points, direction], 1).astype(np.float32)
        hit = caster.cast_rays(open3d.core.Tensor.from_numpy(rays))["t_hit"].numpy()
        total += np.clip(1 - hit / reach, 0, 1)
    return np.asarray(np.minimum(total / DIRECTIONS * 1.15, 0.92))


def _blocked(
    caster: open3d.t.geometry.RaycastingScene, points: np.ndarray, directions: np.ndarray, far: float
) -> np.ndarray:
    import open3d

    rays = np.concatenate([points, directions], 1).astype(np.float32)
    return np.asarray(caster.test_occlusions(open3d.core.Tensor.from_numpy(rays), 0.0, float(far)).numpy())
