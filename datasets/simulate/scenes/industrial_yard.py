"""An industrial yard: containers, drums, tanks, pipe racks, a crane, a fence and halls."""

import numpy as np

from datasets.simulate import props
from datasets.simulate.model import Builder, Light, Material
from datasets.simulate.viewpoints import View

LIGHT = Light(sun=(0.9, 0.84, 0.76), towards_sun=(-0.4, 0.7, -0.6), sky=(0.56, 0.59, 0.65), zenith=(0.5, 0.62, 0.78))
STEEL = Material("metal", 0.8, (0.6, 0.64, 0.68))


def build(b: Builder) -> None:
    """Fill the scene: a road along x, a fence and drums beside it, containers, tanks and halls behind."""
    random = b.random
    b.ground((-80, -30), (160, 120), 0.0, Material("concrete", 6.0, (0.85, 0.84, 0.8)), cell=1.3)
    b.ground((-80, -5.5), (160, 4.0), 0.02, Material("asphalt", 3.0), cell=1.0)
    for x in np.arange(-40, 41, 2.5):
        _fence(b.at((float(x), 0, -0.6)))
    for x in np.arange(-40, 41, 9.0):
        _lamp(b.at((float(x + random.uniform(-1, 1)), 0, 0.1)))
    for _ in range(110):
        x, z = random.uniform((-38, 0.6), (38, 6.5))
        spot = b.at((float(x), 0, float(z)), float(random.uniform(0, 360)))
        (_drum, _pallet, _cone, _bollard, _drums_on_pallet)[int(random.integers(5))](spot)
    for x in np.arange(-40, 41, 7.2):
        for z in (9.0, 14.5):
            if random.random() < 0.72:
                stack = int(random.integers(1, 4))
                _containers(b.at((float(x + random.uniform(-0.8, 0.8)), 0, z), float(random.uniform(-8, 8))), stack)
    for x in np.arange(-45, 46, 13.0):
        _tank(b.at((float(x), 0, float(random.uniform(22, 28)))))
    _pipe_rack(b.at((0, 0, 18.5)))
    _crane(b.at((6, 0, 31)))
    for x in np.arange(-60, 61, 24.0):
        _hall(b.at((float(x), 0, float(random.uniform(42, 48)))))
    for x in (-38, -14, 12, 33):
        chimney = b.at((float(x), 0, 62.0))
        height = float(random.uniform(20, 30))
        chimney.cylinder((0, 0, 0), 1.9, height, Material("bricks", 3.0), top=1.3)
        for level in (0.7, 0.85):
            chimney.cylinder((0, level * height, 0), 1.6, 1.2, Material("plain", 2.0, (0.9, 0.3, 0.25)))


def view(case: str, random: np.random.Generator) -> View:
    """A viewpoint of the kind."""
    if case == "Trucking":
        return View((random.uniform(-25, 25), 1.7, random.uniform(-5.2, -3.4)), random.uniform(-6, 6), -2, 56)
    return View(
        (random.uniform(-14, 14), random.uniform(5, 8), random.uniform(-22, -16)), random.uniform(-14, 14), 4, 40
    )


def _fence(b: Builder) -> None:
    b.pole((0, 0, 0), (0, 2.1, 0), 0.035, STEEL)
    for y in (0.15, 2.05):
        b.pole((0, y, 0), (2.5, y, 0), 0.02, STEEL)
    for x in np.arange(0.25, 2.5, 0.25):
        b.pole((float(x), 0.15, 0), (float(x), 2.05, 0), 0.011, STEEL, 6)


def _lamp(b: Builder) -> None:
    b.cylinder((0, 0, 0), 0.11, 6.5, STEEL, top=0.06)
    b.pole((0, 6.4, 0), (0, 6.6, -1.3), 0.04, STEEL)
    b.box((0, 6.55, -1.4), (0.3, 0.1, 0.6), Material("plain", 1.0, (0.9, 0.9, 0.85)))


def _drum(b: Builder) -> None:
    b.cylinder((0, 0, 0), 0.29, 0.88, Material("rust", 1.2, props.tint(b.random, 0.5)))
    for level in (0.0, 0.29, 0.58, 0.85):
        b.cylinder((0, level, 0), 0.3, 0.03, STEEL)


def _pallet(b: Builder) -> None:
    wood = Material("planks", 0.8, (1.0, 0.95, 0.85))
    for level in range(int(b.random.integers(2, 7))):
        b.box((0, 0.15 * level, 0), (1.2, 0.03, 0.8), wood)
        b.box((0, 0.15 * level + 0.11, 0), (1.2, 0.03, 0.8), wood)
        for x in (-0.55, 0, 0.55):
            b.box((x, 0.15 * level + 0.03, 0), (0.1, 0.08, 0.8), wood)


def _drums_on_pallet(b: Builder) -> None:
    b.box((0, 0, 0), (1.3, 0.14, 1.3), Material("planks", 0.8))
    for x in (-0.31, 0.31):
        for z in (-0.31, 0.31):
            _drum(b.at((x, 0.14, z)))


def _cone(b: Builder) -> None:
    b.box((0, 0, 0), (0.36, 0.03, 0.36), Material("plain", 0.5, (0.9, 0.35, 0.1)))
    for level, low, high, colour in ((0.03, 0.14, 0.1, (0.95, 0.35, 0.1)), (0.2, 0.1, 0.07, (1.0, 1.0, 1.0)),
                                     (0.36, 0.07, 0.025, (0.95, 0.35, 0.1))):  # fmt: skip
        b.cylinder((0, level, 0), low, 0.17, Material("plain", 0.5, colour), top=high)


def _bollard(b: Builder) -> None:
    b.cylinder((0, 0, 0), 0.1, 1.0, Material("hazard", 0.7))


def _containers(b: Builder, stack: int) -> None:
    for level in range(stack):
        paint = props.tint(b.random, 0.25, 1.0)
        body = b.at((float(b.random.uniform(-0.3, 0.3)), 2.6 * level, 0))
        body.box((0, 0, 0), (6.06, 2.59, 2.44), Material("corrugated", 1.8, paint), cell=0.65)
        for x in (-3.0, 3.0):
            for z in (-1.2, 1.2):
                body.box((x, 0, z), (0.16, 2.6, 0.16), Material("rust", 1.5, paint))
        body.box((1.6, 0.9, -1.225), (1.5, 1.1, 0.02), Material(props.pick(b.random, (*props.POSTERS, "label")), 0))


def _tank(b: Builder) -> None:
    radius, height = b.random.uniform((2.4, 5), (4, 9))
    b.cylinder((0, 0, 0), radius, height, Material("rust", 4.0, (1.1, 1.1, 1.1)), segments=32)
    b.sphere((0, height, 0), (radius, 0.25 * radius, radius), Material("metal", 3.0))
    for level in np.arange(0.3, height, 0.4):
        b.box((0, float(level), -radius - 0.12), (0.5, 0.04, 0.04), STEEL)
    for x in (-0.25, 0.25):
        b.box((x, 0, -radius - 0.12), (0.05, height, 0.05), STEEL)
    for level in (0.33, 0.66):
        b.cylinder((0, level * height, 0), radius + 0.06, 0.12, STEEL, segments=32)


def _pipe_rack(b: Builder) -> None:
    for x in np.arange(-45, 46, 6.0):
        for z in (-0.8, 0.8):
            b.box((float(x), 0, z), (0.25, 5.6, 0.25), Material("rust", 2.0, (0.8, 0.6, 0.5)))
        for y in (3.6, 5.2):
            b.box((float(x), y, 0), (0.2, 0.2, 2.0), Material("rust", 2.0, (0.8, 0.6, 0.5)))
    for y in (3.9, 5.5):
        for z in (-0.6, 0.0, 0.6):
            b.pole((-46, y, z), (46, y, z), float(b.random.uniform(0.08, 0.2)),
                   Material("metal", 1.5, props.tint(b.random, 0.5)), 16)  # fmt: skip


def _crane(b: Builder) -> None:
    paint = Material("hazard", 4.0)
    for x in (-9.0, 9.0):
        for z in (-2.5, 2.5):
            b.pole((x, 0, z), (x * 0.9, 13, z * 0.3), 0.3, Material("plain", 2.0, (0.95, 0.75, 0.15)))
    b.box((0, 13, 0), (26, 1.1, 1.6), paint)
    b.box((3, 11.6, 0), (2.2, 1.4, 2.0), Material("facade", 4.0, (0.9, 0.8, 0.4)))
    b.pole((3, 5.5, 0), (3, 11.6, 0), 0.06, STEEL)
    b.box((3, 5.0, 0), (0.8, 0.6, 0.5), paint)


def _hall(b: Builder) -> None:
    height = float(b.random.uniform(8, 12))
    b.box((0, 0, 0), (21, height, 12), Material("bricks", 3.0), cell=1.5)
    for x in np.arange(-8.5, 9, 3.4):
        b.box((float(x), 1.6, -6.0), (2.2, 3.2, 0.2), Material("facade", 2.2, (0.7, 0.8, 0.9)))
        b.box((float(x), 0.45 * height + 1.2, -6.0), (2.2, 2.2, 0.2), Material("facade", 2.2, (0.7, 0.8, 0.9)))
    for x in np.arange(-7, 8, 7.0):
        b.box((float(x), height - 0.8, 0), (7.6, 0.3, 12.6), Material("corrugated", 3.0, (0.7, 0.7, 0.75)), roll=16)
