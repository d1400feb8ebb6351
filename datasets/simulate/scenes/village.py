"""A village: huts with thatched roofs, fences, barrels, stalls with wares, trees and hills."""

import numpy as np

from datasets.simulate import props
from datasets.simulate.model import Builder, Light, Material
from datasets.simulate.viewpoints import View

LIGHT = Light(sun=(0.95, 0.86, 0.7), towards_sun=(-0.6, 0.6, -0.6), sky=(0.56, 0.59, 0.65))
STALLS = (-14.0, -7.0, 0.0, 7.0, 14.0)
PLANKS = Material("planks", 1.4)


def build(b: Builder) -> None:
    """Fill the scene: a lane along x, stalls and a fence beside it, rows of huts behind."""
    random = b.random
    b.ground((-70, -30), (140, 110), 0.0, Material("grass", 2.5, (0.62, 0.82, 0.42)), cell=1.0)
    b.ground((-60, -2.2), (120, 3.0), 0.02, Material("gravel", 1.6, (0.85, 0.74, 0.6)), cell=0.8)
    for x in np.arange(-32, 33, 2.2):
        _fence(b.at((float(x), 0, float(1.1 + random.uniform(-0.1, 0.1)))))
    for x in STALLS:
        _stall(b, x)
    for row, (z, step) in enumerate(((8.0, 8.5), (19.0, 9.5), (31.0, 10.0))):
        for x in np.arange(-38 + 3 * row, 39, step):
            place = (float(x + random.uniform(-1.2, 1.2)), 0.0, float(z + random.uniform(-1, 1.5)))
            _hut(b.at(place, float(random.uniform(-25, 25))))
    for _ in range(70):
        x, z = random.uniform((-34, 2.2), (34, 6.0))
        kind = int(random.integers(5))
        spot = b.at((float(x), 0, float(z)), float(random.uniform(0, 360)), float(random.uniform(0.8, 1.15)))
        if kind == 0:
            props.barrel(spot, PLANKS)
        elif kind == 1:
            props.crate(spot, 0.7)
        elif kind == 2:
            props.bush(spot, 0.6)
        elif kind == 3:
            props.rock(spot, 0.45)
        else:
            _logs(spot)
    for _ in range(46):
        x, z = random.uniform((-55, 12), (55, 62))
        props.tree(b.at((float(x), 0, float(z))), float(random.uniform(5, 10)))
    for x in np.arange(-60, 61, 15):
        size = random.uniform(10, 20)
        b.sphere((float(x), -2.0, float(random.uniform(72, 80))), (22, float(size), 12),
                 Material("grass", 9.0, (0.45, 0.6, 0.4)))  # fmt: skip


def view(case: str, random: np.random.Generator) -> View:
    """A viewpoint of the kind."""
    if case == "Macro":
        x = STALLS[int(random.integers(len(STALLS)))] + random.uniform(-0.55, 0.55)
        return View((x, random.uniform(1.02, 1.16), -0.27), random.uniform(-12, 12), random.uniform(4, 14), 50)
    if case == "Trucking":
        return View((random.uniform(-20, 20), 1.6, random.uniform(-5.0, -3.2)), random.uniform(-6, 6), -1, 56)
    return View(
        (random.uniform(-14, 14), random.uniform(4, 6), random.uniform(-20, -14)), random.uniform(-14, 14), 3, 40
    )


def _hut(b: Builder) -> None:
    random = b.random
    width, depth, height = random.uniform((3.6, 3.2, 2.0), (5.2, 4.4, 2.7))
    walls = Material(props.pick(random, ("planks", "planks", "stones", "plaster")), 1.8, props.tint(random, 0.75))
    b.box((0, 0, 0), (width, height, depth), walls, cell=0.6)
    roof = Material(props.pick(random, ("thatch", "shingles")), 1.6)
    rise = 0.75 * width / 2
    slope = float(np.hypot(width / 2 + 0.5, rise * 1.25))
    angle = float(np.degrees(np.arctan2(rise * 1.25, width / 2 + 0.5)))
    for side in (-1, 1):
        b.box((side * (width / 4 + 0.15), height + rise * 0.38, 0), (slope, 0.14, depth + 0.9), roof,
              roll=-side * angle, cell=0.6)  # fmt: skip
    for step in range(6):  # the gable, in courses
        share = (step + 0.5) / 6
        b.box((0, height + step * rise / 6, 0), (width * (1 - share), rise / 6, depth - 0.1), walls)
    b.box((random.uniform(-0.6, 0.6), 0, -depth / 2), (0.95, 1.8, 0.12), Material("wood", 0.9, (0.55, 0.4, 0.3)))
    for x in (-0.33 * width, 0.33 * width):
        b.box((x, 0.9, -depth / 2), (0.6, 0.6, 0.1), Material("checker", 3.0, (0.35, 0.4, 0.5)))
        b.box((x, 0.82, -depth / 2), (0.75, 0.08, 0.2), Material("wood", 0.5))
        b.box((x, 1.5, -depth / 2), (0.75, 0.08, 0.2), Material("wood", 0.5))
    b.box((0.25 * width, height, 0.2), (0.5, rise + 0.9, 0.5), Material("bricks", 1.2))
    for x in (-0.5 * width, 0.5 * width):
        b.pole((x, 0, -depth / 2), (x, height, -depth / 2), 0.11, Material("bark", 0.7))
    shield = Material(props.pick(random, ("retina", "coins", "cat", "moon", "rocket")), 0.9)
    b.cylinder((0, height + 0.25, -depth / 2 - 0.02), 0.4, 0.06, shield, pitch=-90)


def _fence(b: Builder) -> None:
    wood = Material("wood", 0.8, (0.75, 0.68, 0.6))
    if b.random.random() < 0.3:
        return
    for x in (-1.0, -0.35, 0.35, 1.0):
        b.box((x, 0, 0), (0.1, float(b.random.uniform(0.85, 1.15)), 0.07), wood)
    for y in (0.35, 0.75):
        b.box((0, y, 0.05), (2.2, 0.09, 0.04), wood)


def _logs(b: Builder) -> None:
    for level in range(4):
        for step in range(5 - level):
            x = (step - (4 - level) / 2) * 0.24
            b.pole((x, 0.12 + level * 0.21, -0.5), (x, 0.12 + level * 0.21, 0.5), 0.12, Material("bark", 0.6))


def _stall(b: Builder, x: float) -> None:
    stall = b.at((x, 0, 0.3))
    props.table(stall, (2.4, 0.9, 0.95), Material("planks", 0.5), PLANKS)
    for dx in (-1.3, 1.3):
        for dz in (-0.55, 0.55):
            stall.pole((dx, 0, dz), (dx, 2.3 + 0.25 * (dz > 0), dz), 0.035, Material("wood", 0.6))
    stall.box((0, 2.33, 0), (3.0, 0.03, 1.5), Material("stripes", 1.0, props.tint(b.random, 0.7)), pitch=-12)
    props.clutter(b, (x - 1.1, -0.08), (2.2, 0.75), 0.9, 26)
