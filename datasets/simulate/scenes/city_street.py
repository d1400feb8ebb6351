"""A city street: house fronts with windows, parked cars, lamps, trees, signs and street furniture."""

import numpy as np

from datasets.simulate import props
from datasets.simulate.model import Builder, Light, Material
from datasets.simulate.viewpoints import View

LIGHT = Light(sun=(0.88, 0.82, 0.72), towards_sun=(-0.5, 0.75, -0.5), sky=(0.56, 0.59, 0.65))
IRON = Material("metal", 0.6, (0.32, 0.35, 0.36))


def build(b: Builder) -> None:
    """Fill the scene: a road along x, a pavement with furniture, fronts behind, taller blocks further back."""
    random = b.random
    b.ground((-90, -40), (180, 130), 0.0, Material("asphalt", 4.0), cell=1.5)
    b.box((0, 0, 5.6), (160, 0.15, 6.4), Material("tiles", 1.8, (0.9, 0.88, 0.86)), cell=2.0)
    for x in np.arange(-60, 61, 4.0):
        b.box((float(x), 0.005, -3.2), (2.2, 0.004, 0.14), Material("plain", 1.0, (1, 1, 1)))
    for x in np.arange(-50, 51, 6.3):
        if random.random() < 0.75:
            _car(b.at((float(x + random.uniform(-0.6, 0.6)), 0, float(random.uniform(0.9, 1.2)))))
    for x in np.arange(-52, 53, 8.5):
        _lamp(b.at((float(x + random.uniform(-0.5, 0.5)), 0.15, 2.8)))
    for x in np.arange(-48, 49, 11.0):
        spot = b.at((float(x + random.uniform(-2, 2)), 0.15, float(random.uniform(3.4, 3.8))))
        props.tree(spot, float(random.uniform(4.6, 6.5)), 300)
    for x in np.arange(-50, 51, 1.9):
        b.cylinder((float(x), 0.15, 2.55), 0.06, 0.85, IRON, top=0.045)
    for _ in range(150):
        x, z = random.uniform((-50, 3.2), (50, 7.4))
        spot = b.at((float(x), 0.15, float(z)), float(random.uniform(-30, 30)))
        (_bin, _bench, _sign, _kiosk, _planter, _hydrant)[int(random.integers(6))](spot)
    for row, (z, low, high) in enumerate(((13.0, 8, 15), (30.0, 14, 26), (52.0, 22, 40))):
        x = -70.0
        while x < 70:
            width = float(random.uniform(8, 14))
            if random.random() < 0.84:
                _house(b.at((x + width / 2, 0, z)), width, float(random.uniform(low, high)), detailed=row < 2)
            x += width + float(random.uniform(0, 2.5))


def view(case: str, random: np.random.Generator) -> View:
    """A viewpoint of the kind."""
    if case == "Trucking":
        return View((random.uniform(-35, 35), 1.4, random.uniform(-4.5, -2.8)), random.uniform(-6, 6), -3, 56)
    # Along the street rather than square to the fronts, so that the view has depth.
    side = 1 if random.random() < 0.5 else -1
    place = (side * random.uniform(-30, -10), random.uniform(4, 6), random.uniform(-16, -9))
    return View(place, side * random.uniform(35, 60), 1, 44)


def _house(b: Builder, width: float, height: float, *, detailed: bool) -> None:
    random = b.random
    wall = Material("facade", 9.0, props.tint(random, 0.65))
    b.box((0, 0, 0), (width, height, 8.0), wall, cell=1.6)
    b.box((0, height, 0), (width + 0.6, 0.5, 8.6), Material("stones", 2.0))
    if not detailed:
        return
    front = -4.0
    b.box((0, 0, front), (width, 3.2, 0.2), Material(props.pick(random, ("bricks", "stones", "plaster")), 2.2))
    for x in np.arange(-width / 2 + 1.6, width / 2 - 1, 2.9):
        shop = Material(props.pick(random, props.POSTERS), 0)
        b.box((float(x), 0.5, front - 0.1), (2.1, 1.9, 0.12), shop)
        b.box(
            (float(x), 2.5, front - 0.6), (2.5, 0.05, 1.1), Material("stripes", 1.2, props.tint(random, 0.6)), pitch=-18
        )
    for level in np.arange(4.3, height - 1.5, 3.1):
        for x in np.arange(-width / 2 + 1.5, width / 2 - 0.8, 3.2):
            if random.random() < 0.5:
                continue
            b.box((float(x), float(level), front - 0.4), (1.9, 0.12, 0.9), Material("stones", 1.0))
            for dx in np.linspace(-0.9, 0.9, 7):
                b.box((float(x + dx), float(level) + 0.1, front - 0.8), (0.04, 0.85, 0.04), IRON, cell=1.0)
            b.box((float(x), float(level) + 0.95, front - 0.8), (1.95, 0.06, 0.06), IRON)


def _car(b: Builder) -> None:
    paint = Material("plain", 2.0, props.tint(b.random, 0.2, 1.0))
    glass = Material("moon", 1.5, (0.3, 0.36, 0.42))
    b.box((0, 0.32, 0), (4.2, 0.5, 1.72), paint)
    b.box((0, 0.28, 0), (4.3, 0.16, 1.6), Material("plain", 1.0, (0.12, 0.12, 0.13)))
    b.box((-0.15, 0.8, 0), (2.3, 0.5, 1.5), glass)
    b.box((-0.15, 1.29, 0), (2.0, 0.06, 1.45), paint)
    for x in (-1.28, -0.2, 0.95):
        b.box((x, 0.8, 0), (0.09, 0.5, 1.53), paint)
    for x in (-1.35, 1.35):
        for z in (-0.78, 0.78):
            b.cylinder((x, 0.32, z - 0.1), 0.32, 0.2, Material("plain", 1.0, (0.1, 0.1, 0.11)), pitch=90)
            b.cylinder((x, 0.32, z - 0.115), 0.19, 0.23, Material("coins", 0.4), pitch=90)
    b.box((-2.1, 0.5, 0), (0.05, 0.14, 1.4), Material("plain", 1.0, (0.95, 0.9, 0.7)))
    b.box((0.5, 0.66, -0.87), (0.22, 0.04, 0.02), IRON)


def _lamp(b: Builder) -> None:
    b.cylinder((0, 0, 0), 0.13, 0.7, IRON, top=0.07)
    b.cylinder((0, 0.7, 0), 0.06, 3.4, IRON, top=0.045)
    b.pole((-0.5, 3.9, 0), (0.5, 3.9, 0), 0.03, IRON)
    for x in (-0.5, 0.5):
        b.sphere((x, 4.12, 0), 0.2, Material("plain", 0.5, (1.1, 1.05, 0.95)))
    if b.random.random() < 0.6:
        b.box((0.33, 2.0, 0), (0.55, 0.8, 0.04), Material(props.pick(b.random, props.POSTERS), 0))


def _bin(b: Builder) -> None:
    b.cylinder((0, 0, 0), 0.22, 0.8, Material("corrugated", 0.5, props.tint(b.random, 0.3, 0.8)), top=0.26)
    b.cylinder((0, 0.8, 0), 0.28, 0.06, IRON)


def _bench(b: Builder) -> None:
    wood = Material("wood", 0.6)
    for z in (-0.2, -0.05, 0.1):
        b.box((0, 0.44, z), (1.6, 0.04, 0.12), wood)
    for y in (0.58, 0.74):
        b.box((0, y, 0.22), (1.6, 0.11, 0.04), wood)
    for x in (-0.7, 0.7):
        b.box((x, 0, 0), (0.06, 0.45, 0.45), IRON)
        b.box((x, 0.45, 0.24), (0.06, 0.4, 0.04), IRON)


def _sign(b: Builder) -> None:
    b.pole((0, 0, 0), (0, 2.5, 0), 0.03, IRON)
    b.cylinder(
        (0, 2.2, -0.05), 0.33, 0.03, Material(props.pick(b.random, ("hazard", "label", "retina")), 0.7), pitch=90
    )


def _kiosk(b: Builder) -> None:
    b.cylinder((0, 0, 0), 0.6, 2.4, Material(props.pick(b.random, props.POSTERS), 1.9), segments=28)
    b.cylinder((0, 2.4, 0), 0.7, 0.15, IRON, segments=28)
    b.cylinder((0, 2.55, 0), 0.7, 0.45, Material("metal", 1.0, (0.4, 0.6, 0.5)), top=0.05, segments=28)


def _planter(b: Builder) -> None:
    b.box((0, 0, 0), (1.1, 0.5, 0.5), Material("stones", 0.8))
    b.leaves((0, 0.7, 0), (0.55, 0.3, 0.28), 110, (0.08, 0.17), props.tint(b.random, 0.65))


def _hydrant(b: Builder) -> None:
    red = Material("plain", 0.5, (0.85, 0.2, 0.15))
    b.cylinder((0, 0, 0), 0.12, 0.6, red)
    b.sphere((0, 0.6, 0), (0.13, 0.1, 0.13), red)
    b.pole((-0.2, 0.42, 0), (0.2, 0.42, 0), 0.06, red)
