"""A modern studio: a sofa, low tables with things, shelves, easels with pictures, lamps and plants."""

import numpy as np

from datasets.simulate import props
from datasets.simulate.model import Builder, Light, Material
from datasets.simulate.viewpoints import View

LIGHT = Light(
    sun=(0.0, 0.0, 0.0), sky=(0.95, 0.93, 0.9), reach=0.7, haze=0.0,
    lamps=(((-2.5, 3.0, 1.5), (1.9, 1.75, 1.5)), ((2.8, 3.0, 3.5), (1.8, 1.7, 1.5)),
           ((0.5, 3.0, 7.0), (1.9, 1.75, 1.6))),
)  # fmt: skip
TABLES = ((-2.0, 0.0), (0.2, 0.6), (2.3, 0.1), (-0.9, 2.4), (1.7, 2.6))


def build(b: Builder) -> None:
    """Fill the scene: a room of 10 x 13 m, seen along z."""
    random = b.random
    _room(b)
    for x, z in TABLES:
        height = float(random.uniform(0.72, 0.78))
        spot = b.at((x, 0, z))
        props.table(
            spot,
            (1.3, height, 0.8),
            Material("wood", 0.7, props.tint(random, 0.75)),
            Material("metal", 0.4, (0.4, 0.4, 0.42)),
        )
        props.clutter(b, (x - 0.58, z - 0.32), (1.16, 0.64), height, 20)
    for x in (-3.6, -1.2, 1.2, 3.6):
        props.shelf(b.at((x, 0, 8.6)), 1.9, 2.3, 6, Material("wood", 0.8, (0.75, 0.65, 0.55)))
    _sofa(b.at((-2.4, 0, 5.2), 12))
    _sofa(b.at((2.2, 0, 5.6), -15))
    b.box((0, 0.001, 5.0), (4.6, 0.01, 2.6), Material("carpet", 1.6))
    for _ in range(10):
        x, z = random.uniform((-4.3, 3.4), (4.3, 8.0))
        _easel(b.at((float(x), 0, float(z)), float(random.uniform(-30, 30))))
    for _ in range(9):
        x, z = random.uniform((-4.5, 3.2), (4.5, 8.3))
        _big_plant(b.at((float(x), 0, float(z))))
    for _ in range(6):
        x, z = random.uniform((-4.4, 3.2), (4.4, 7.8))
        _floor_lamp(b.at((float(x), 0, float(z))))
    for x in np.arange(-4.2, 4.3, 1.4):
        b.picture(
            (float(x), 2.75 + float(random.uniform(-0.1, 0.1)), 8.93), (0.8, 0.62), props.pick(random, props.POSTERS)
        )
    for side in (-1, 1):
        for z in np.arange(0.0, 8.5, 1.5):
            b.picture((side * 4.93, float(random.uniform(1.6, 2.1)), float(z)), (1.0, 0.8),
                      props.pick(random, props.POSTERS), yaw=side * 90)  # fmt: skip
    for x, z in ((-2, 2.5), (0, 4.5), (2, 3), (-3, 6), (3, 6.5), (0, 1.5)):
        _pendant(b.at((float(x), 0, float(z))))


def view(case: str, random: np.random.Generator) -> View:
    """A viewpoint of the kind."""
    if case == "Macro":
        x, z = TABLES[int(random.integers(len(TABLES)))]
        return View((x + random.uniform(-0.35, 0.35), random.uniform(0.84, 0.98), z - 0.62 + random.uniform(0, 0.12)),
                    random.uniform(-14, 14), random.uniform(3, 14), 50)  # fmt: skip
    return View(
        (random.uniform(-2, 2), random.uniform(1.7, 2.2), random.uniform(-3.4, -3.0)), random.uniform(-8, 8), 6, 44
    )


def _room(b: Builder) -> None:
    floor, wall = Material("planks", 1.6, (1.1, 1.05, 1.0)), Material("plaster", 3.0)
    b.ground((-5, -4), (10, 13), 0.0, floor, cell=0.25)
    b.box((0, 3.3, 2.5), (10, 0.1, 13), wall, cell=0.5)
    b.box((0, 0, 9.0), (10, 3.3, 0.1), Material("brick", 1.6, (1.3, 1.25, 1.2)), cell=0.3)
    b.box((0, 0, -4.0), (10, 3.3, 0.1), wall, cell=0.5)
    for x in (-5.0, 5.0):
        b.box((x, 0, 2.5), (0.1, 3.3, 13), wall, cell=0.4)
        for z in np.arange(-2.5, 8.6, 3.0):
            b.box((x * 0.97, 0, float(z)), (0.3, 3.3, 0.3), Material("concrete", 1.2))
    for z in np.arange(-2.5, 8.6, 1.5):
        b.box((0, 3.08, float(z)), (10, 0.22, 0.16), Material("wood", 0.8, (0.6, 0.45, 0.35)))


def _sofa(b: Builder) -> None:
    cloth = Material("fabric", 0.5, props.tint(b.random, 0.35, 0.9))
    b.box((0, 0.12, 0), (2.0, 0.28, 0.85), cloth)
    b.box((0, 0.3, 0.36), (2.0, 0.5, 0.2), cloth, pitch=8)
    for x in (-0.95, 0.95):
        b.box((x, 0.12, 0), (0.2, 0.5, 0.85), cloth)
    for x in (-0.6, 0.0, 0.6):
        cushion = Material(
            props.pick(b.random, ("checker", "carpet", "cat", "stripes", "retina")), 0.42, props.tint(b.random, 0.6)
        )
        b.sphere((x, 0.55, 0.16), (0.22, 0.2, 0.1), cushion)


def _easel(b: Builder) -> None:
    wood = Material("wood", 0.5, (0.9, 0.75, 0.6))
    for x in (-0.35, 0.35):
        b.pole((x, 0, -0.15), (x * 0.3, 1.8, 0.1), 0.018, wood)
    b.pole((0, 0, 0.6), (0, 1.8, 0.1), 0.018, wood)
    b.box((0, 0.75, -0.06), (0.8, 0.03, 0.08), wood)
    b.box((0, 0.78, -0.04), (0.75, 0.85, 0.03), Material(props.pick(b.random, props.POSTERS), 0), pitch=8)


def _big_plant(b: Builder) -> None:
    b.cylinder((0, 0, 0), 0.16, 0.34, Material("speckle", 0.5, props.tint(b.random, 0.5)), top=0.22)
    b.pole((0, 0.3, 0), (0, 0.9, 0), 0.02, Material("bark", 0.3))
    b.leaves((0, 1.0, 0), (0.42, 0.5, 0.42), 120, (0.1, 0.3), props.tint(b.random, 0.7))


def _floor_lamp(b: Builder) -> None:
    b.cylinder((0, 0, 0), 0.16, 0.03, Material("metal", 0.3))
    b.pole((0, 0.03, 0), (0, 1.55, 0), 0.014, Material("metal", 0.3))
    b.cylinder((0, 1.5, 0), 0.22, 0.28, Material("fabric", 0.3, (1.2, 1.1, 0.9)), top=0.13)


def _pendant(b: Builder) -> None:
    b.pole((0, 2.5, 0), (0, 3.3, 0), 0.006, Material("metal", 0.3, (0.2, 0.2, 0.2)), 6)
    b.cylinder((0, 2.28, 0), 0.2, 0.24, Material("metal", 0.3, props.tint(b.random)), top=0.05)
