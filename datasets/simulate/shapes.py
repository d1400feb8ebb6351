"""Shapes as triangle meshes: vertices in metres, normals, texture coordinates in metres (or 0 to 1).

Axes are Unity's: x right, y up, z forward. Faces are cut into cells of at most ``cell`` metres, because
light is stored at the vertices.
"""

import math
from typing import NamedTuple

import numpy as np


class Mesh(NamedTuple):
    """``vertices`` (V, 3), ``normals`` (V, 3), ``uvs`` (V, 2), ``triangles`` (T, 3)."""

    vertices: np.ndarray
    normals: np.ndarray
    uvs: np.ndarray
    triangles: np.ndarray


def rotation(yaw: float = 0.0, pitch: float = 0.0, roll: float = 0.0) -> np.ndarray:
    """Unity's Euler angles in degrees, ``R = Ry(yaw) Rx(pitch) Rz(roll)``, axes x right, y up, z forward."""
    a, b, c = (math.radians(value) for value in (yaw, pitch, roll))
    about_y = np.array([[math.cos(a), 0, math.sin(a)], [0, 1, 0], [-math.sin(a), 0, math.cos(a)]])
    about_x = np.array([[1, 0, 0], [0, math.cos(b), -math.sin(b)], [0, math.sin(b), math.cos(b)]])
    about_z = np.array([[math.cos(c), -math.sin(c), 0], [math.sin(c), math.cos(c), 0], [0, 0, 1]])
    return np.asarray(about_y @ about_x @ about_z)


def join(meshes: list[Mesh]) -> Mesh:
    """One mesh of several."""
    starts = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.normals for mesh in meshes]),
        np.concatenate([mesh.uvs for mesh in meshes]),
        np.concatenate([mesh.triangles + start for mesh, start in zip(meshes, starts, strict=False)]),
    )


def face(origin: np.ndarray, along: np.ndarray, up: np.ndarray, cell: float, most: int = 64) -> Mesh:
    """A parallelogram from ``origin``; its normal is ``up x along`` (outwards in left-handed axes)."""
    length, height = np.linalg.norm(along), np.linalg.norm(up)
    columns = int(np.clip(math.ceil(length / cell), 1, most))
    rows = int(np.clip(math.ceil(height / cell), 1, most))
    u, v = (grid.ravel() for grid in np.meshgrid(np.linspace(0, 1, columns + 1), np.linspace(0, 1, rows + 1)))
    normal = np.cross(up, along)
    normal = normal / np.linalg.norm(normal)
    vertices = origin + u[:, None] * along + v[:, None] * up
    # Texture rows run downwards, so that photographs stand upright.
    uvs = np.stack([u * length, (1 - v) * height], 1)
    return Mesh(vertices, np.tile(normal, (len(u), 1)), uvs, _lattice(rows, columns))


def box(size: tuple[float, float, float], cell: float) -> Mesh:
    """A box standing on the origin: x and z centred, y from 0."""
    x, y, z = (float(value) for value in size)
    right, top, back = np.array([x, 0, 0]), np.array([0, y, 0]), np.array([0, 0, z])
    corner = np.array([-x / 2, 0, -z / 2])
    return join(
        [
            face(corner, right, top, cell),  # front, towards -z
            face(corner + right + back, -right, top, cell),
            face(corner + back, -back, top, cell),  # left
            face(corner + right, back, top, cell),
            face(corner + top, right, back, cell),  # top
            face(corner + back, right, -back, cell),
        ]
    )


def cylinder(radius: float, height: float, top_radius: float | None = None, segments: int = 20) -> Mesh:
    """A cylinder or cone along y, standing on the origin, closed by caps."""
    top_radius = radius if top_radius is None else top_radius
    angle = np.linspace(0, 2 * math.pi, segments + 1)
    outwards = np.stack([np.cos(angle), np.zeros_like(angle), np.sin(angle)], 1)
    slope = np.array([0, (radius - top_radius) / max(height, 1e-9), 0])
    normals = outwards + slope
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    rows = 3
    levels = np.linspace(0, 1, rows + 1)
    widths = radius + levels * (top_radius - radius)
    vertices = outwards[None] * widths[:, None, None] + np.array([0, height, 0]) * levels[:, None, None]
    around = angle * max(radius, top_radius)
    uvs = np.stack(np.broadcast_arrays(around[None], (height * (1 - levels))[:, None]), -1)
    side = Mesh(vertices.reshape(-1, 3), np.tile(normals, (rows + 1, 1)), uvs.reshape(-1, 2), _lattice(rows, segments))
    parts = [side]
    for level, width, upwards in ((0.0, radius, -1.0), (height, top_radius, 1.0)):
        if width > 0:
            parts.append(_disc(outwards[:-1], width, level, upwards))
    return join(parts)


def sphere(radii: tuple[float, float, float], segments: int = 20, rings: int = 12) -> Mesh:
    """An ellipsoid about the origin."""
    polar = np.linspace(0, math.pi, rings + 1)
    angle = np.linspace(0, 2 * math.pi, segments + 1)
    p, a = np.meshgrid(polar, angle, indexing="ij")
    unit = np.stack([np.sin(p) * np.cos(a), -np.cos(p), np.sin(p) * np.sin(a)], -1).reshape(-1, 3)
    scale = np.asarray(radii, np.float64)
    normals = unit / scale
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    uvs = np.stack([a * scale[0], (math.pi - p) * scale[1]], -1).reshape(-1, 2)
    return Mesh(unit * scale, normals, uvs, _lattice(rings, segments))


def leaves(
    random: np.random.Generator, radii: tuple[float, float, float], count: int, leaf: tuple[float, float]
) -> Mesh:
    """Leaves (width, length) scattered in an ellipsoid about the origin, denser towards its surface."""
    place = random.standard_normal((count, 3))
    place /= np.linalg.norm(place, axis=1, keepdims=True)
    outwards = place.copy()
    place *= random.uniform(0.25, 1.0, (count, 1)) ** 0.5 * np.asarray(radii)
    along = outwards + 0.8 * random.standard_normal((count, 3)) + np.array([0, -0.4, 0])
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    side = np.cross(along, random.standard_normal((count, 3)))
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    size = random.uniform(0.7, 1.3, (count, 1))
    along, side = along * leaf[1] * size, side * leaf[0] * size
    # A kite: narrow at the stalk, wide before the middle, pointed at the end.
    corners = np.stack([place, place + 0.4 * along - side / 2, place + along, place + 0.4 * along + side / 2], 1)
    unit = np.array([[0.5, 1.0], [0.0, 0.6], [0.5, 0.0], [1.0, 0.6]])
    start = 4 * np.arange(count)[:, None, None]
    triangles = (start + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)
    # Light falls on leaves as on the whole crown: normals point outwards.
    normals = np.repeat(outwards, 4, axis=0)
    return Mesh(corners.reshape(-1, 3), normals, np.tile(unit, (count, 1)), triangles)


def _disc(outwards: np.ndarray, radius: float, level: float, upwards: float) -> Mesh:
    rim = outwards * radius + np.array([0, level, 0])
    vertices = np.concatenate([[[0, level, 0]], rim])
    count = len(rim)
    ring = np.arange(count)
    triangles = np.stack([np.zeros(count, int), 1 + ring, 1 + (ring + 1) % count], 1)
    return Mesh(
        vertices,
        np.tile([0.0, upwards, 0.0], (count + 1, 1)),
        radius + vertices[:, [0, 2]] * np.array([1, -1]),
        triangles,
    )


def _lattice(rows: int, columns: int) -> np.ndarray:
    """Two triangles for each cell of a lattice of ``(rows + 1) x (columns + 1)`` vertices."""
    first = (np.arange(rows)[:, None] * (columns + 1) + np.arange(columns)).ravel()
    below = first + columns + 1
    return np.concatenate([np.stack([first, first + 1, below], 1), np.stack([first + 1, below + 1, below], 1)])
