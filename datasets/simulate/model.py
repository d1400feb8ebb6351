"""A scene under construction, and the scene itself: triangles, light, and Open3D's ray caster."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from datasets.simulate import shapes, textures
from datasets.simulate.patterns import SIZE
from datasets.simulate.shapes import Mesh

if TYPE_CHECKING:
    import open3d

Colour = tuple[float, float, float]
Point = tuple[float, float, float]
NOTHING = np.uint32(0xFFFFFFFF)
"""The triangle number of a ray that hits nothing."""


class Material(NamedTuple):
    """A texture that repeats every ``tile`` metres (0: once on each face) times a colour."""

    texture: str
    tile: float = 1.0
    tint: Colour = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Light:
    """Directional sun (towards the light), lamps as (position, colour at 1 m), and an even sky.

    ``reach`` is the distance in metres up to which other things darken the sky's light.
    """

    sun: Colour = (0.85, 0.8, 0.7)
    towards_sun: Point = (-0.5, 0.75, -0.45)
    sky: Colour = (0.42, 0.45, 0.5)
    lamps: tuple[tuple[Point, Colour], ...] = ()
    reach: float = 2.0
    zenith: Colour = (0.42, 0.6, 0.85)
    horizon: Colour = (0.85, 0.9, 0.95)
    haze: float = 0.004


@dataclass(frozen=True)
class Scene:
    """What the renderer needs. ``corners`` (T, 16): for each corner of a triangle u, v, red, green and
    blue light, then texels per metre; ``materials`` (T,) texture numbers.
    """

    name: str
    caster: open3d.t.geometry.RaycastingScene
    corners: np.ndarray
    materials: np.ndarray
    tints: np.ndarray
    objects: np.ndarray
    light: Light

    @property
    def object_count(self) -> int:
        """How many things were put into the scene."""
        return int(self.objects.max()) + 1


@dataclass
class _Parts:
    meshes: list[Mesh] = field(default_factory=list)
    materials: list[Material] = field(default_factory=list)
    objects: list[int] = field(default_factory=list)
    count: int = 0


class Builder:
    """Puts shapes into a scene. :meth:`at` gives a builder with its own origin: one object of many parts."""

    def __init__(self, random: np.random.Generator) -> None:
        self.random = random
        self._parts = _Parts()
        self._turn = np.eye(3)
        self._origin = np.zeros(3)
        self._object: int | None = None

    def at(self, position: Point, yaw: float = 0.0, scale: float = 1.0) -> Builder:
        """A builder at ``position``, turned by ``yaw`` degrees: what it adds is one object."""
        child = Builder(self.random)
        child._parts = self._parts
        child._turn = self._turn @ shapes.rotation(yaw) * scale
        child._origin = self._turn @ np.asarray(position, np.float64) + self._origin
        child._object = self._object
        if child._object is None:
            child._object = self._parts.count
            self._parts.count += 1
        return child

    def add(self, mesh: Mesh, material: Material, position: Point = (0, 0, 0), turn: np.ndarray | None = None) -> None:
        """Add a mesh, turned and then moved to ``position``."""
        vertices, normals = mesh.vertices, mesh.normals
        if turn is not None:
            vertices, normals = vertices @ turn.T, normals @ turn.T
        vertices = (vertices + np.asarray(position)) @ self._turn.T + self._origin
        normals = normals @ self._turn.T
        normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
        number = self._object
        if number is None:
            number = self._parts.count
            self._parts.count += 1
        self._parts.meshes.append(Mesh(vertices, normals, mesh.uvs, mesh.triangles))
        self._parts.materials.append(material)
        self._parts.objects.append(number)

    def box(
        self,
        position: Point,
        size: Point,
        material: Material,
        *,
        yaw: float = 0.0,
        pitch: float = 0.0,
        roll: float = 0.0,
        cell: float | None = None,
    ) -> None:
        """A box that stands on ``position`` (the middle of its bottom)."""
        mesh = shapes.box(size, cell or max(max(size) / 3, 0.02))
        if material.tile == 0:
            mesh = _fitted(mesh)
        self.add(mesh, material, position, shapes.rotation(yaw, pitch, roll))

    def cylinder(
        self,
        position: Point,
        radius: float,
        height: float,
        material: Material,
        *,
        top: float | None = None,
        yaw: float = 0.0,
        pitch: float = 0.0,
        roll: float = 0.0,
        segments: int = 20,
    ) -> None:
        """A cylinder (a cone with ``top``) that stands on ``position``."""
        mesh = shapes.cylinder(radius, height, top, segments)
        if material.tile == 0:
            mesh = mesh._replace(uvs=mesh.uvs / [2 * math.pi * max(radius, top or 0), height])
        self.add(mesh, material, position, shapes.rotation(yaw, pitch, roll))

    def pole(self, start: Point, end: Point, radius: float, material: Material, segments: int = 10) -> None:
        """A round bar between two points."""
        a, b = np.asarray(start, np.float64), np.asarray(end, np.float64)
        length = float(np.linalg.norm(b - a))
        up = (b - a) / length
        side = np.cross(up, [0.0, 0.0, 1.0] if abs(up[2]) < 0.9 else [1.0, 0.0, 0.0])
        side /= np.linalg.norm(side)
        turn = np.stack([side, up, np.cross(side, up)], 1)
        self.add(shapes.cylinder(radius, length, segments=segments), material, start, turn)

    def sphere(self, position: Point, radii: float | Point, material: Material, *, yaw: float = 0.0) -> None:
        """An ellipsoid about ``position``."""
        size = (radii, radii, radii) if isinstance(radii, int | float) else radii
        mesh = shapes.sphere(size)
        if material.tile == 0:
            mesh = mesh._replace(uvs=mesh.uvs / [2 * math.pi * size[0], math.pi * size[1]])
        self.add(mesh, material, position, shapes.rotation(yaw))

    def leaves(
        self,
        position: Point,
        radii: Point,
        count: int,
        leaf: tuple[float, float],
        tint: Colour = (1.0, 1.0, 1.0),
    ) -> None:
        """Foliage about ``position``."""
        self.add(shapes.leaves(self.random, radii, count, leaf), Material("leaf", 1.0, tint), position)

    def ground(self, corner: tuple[float, float], size: tuple[float, float], height: float, material: Material,
               *, cell: float = 1.0) -> None:  # fmt: skip
        """A level rectangle from ``corner`` (x, z), facing upwards."""
        origin = np.array([corner[0], height, corner[1]], np.float64)
        mesh = shapes.face(origin, np.array([size[0], 0.0, 0.0]), np.array([0.0, 0.0, size[1]]), cell, most=120)
        self.add(mesh, material)

    def picture(self, position: Point, size: tuple[float, float], photo: str, *, yaw: float = 0.0, frame: float = 0.03,
                frame_tint: Colour = (0.25, 0.2, 0.17)) -> None:  # fmt: skip
        """A framed photograph about ``position``, seen from -z."""
        child = self.at(position, yaw)
        width, height = size
        child.box((0, -height / 2, 0), (width, height, 0.02), Material(photo, 0))
        wood = Material("wood", 0.4, frame_tint)
        for x in (-(width + frame) / 2, (width + frame) / 2):
            child.box((x, -height / 2 - frame, 0), (frame, height + 2 * frame, 0.035), wood)
        for y in (-height / 2 - frame, height / 2):
            child.box((0, y, 0), (width, frame, 0.035), wood)

    def finish(self, name: str, light: Light) -> Scene:
        """The scene, with the light that falls on each vertex."""
        import open3d

        from datasets.simulate.lighting import bake

        parts = self._parts
        whole = shapes.join(parts.meshes)
        vertices = whole.vertices.astype(np.float32)
        counts = [len(mesh.triangles) for mesh in parts.meshes]
        tiles = np.array([material.tile or 1.0 for material in parts.materials])
        uvs = whole.uvs / np.repeat(tiles, [len(mesh.vertices) for mesh in parts.meshes])[:, None]
        caster = open3d.t.geometry.RaycastingScene()
        caster.add_triangles(
            open3d.core.Tensor.from_numpy(vertices), open3d.core.Tensor.from_numpy(whole.triangles.astype(np.uint32))
        )
        shining = bake(caster, whole, light)
        corners = np.zeros((len(whole.triangles), 16), np.float32)
        per_corner = np.concatenate([uvs, shining], 1)[whole.triangles]
        corners[:, :15] = per_corner.reshape(-1, 15)
        corners[:, 15] = _density(whole.vertices[whole.triangles], per_corner[..., :2])
        return Scene(
            name,
            caster,
            corners,
            np.repeat([textures.number(material.texture) for material in parts.materials], counts).astype(np.int32),
            np.repeat(np.array([material.tint for material in parts.materials], np.float32), counts, axis=0),
            np.repeat(parts.objects, counts).astype(np.int32),
            light,
        )


def _fitted(mesh: Mesh) -> Mesh:
    """Texture coordinates from 0 to 1 on each of a box's six faces."""
    uvs = mesh.uvs.copy()
    _, side = np.unique(np.round(mesh.normals).astype(int), axis=0, return_inverse=True)
    for number in range(6):
        uvs[side == number] /= uvs[side == number].max(0)
    return mesh._replace(uvs=uvs)


def _density(points: np.ndarray, uvs: np.ndarray) -> np.ndarray:
    """Texels per metre of each triangle, from the ratio of areas."""
    a, b = points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]
    area = np.linalg.norm(np.cross(a, b), axis=1)
    p, q = uvs[:, 1] - uvs[:, 0], uvs[:, 2] - uvs[:, 0]
    covered = np.abs(p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0])
    return np.asarray(SIZE * np.sqrt(covered / np.maximum(area, 1e-12)))
