"""A loft office: rows of desks with monitors, keyboards and clutter, chairs, book shelves, pipes and bricks."""

import numpy as np

from datasets.simulate import props
from datasets.simulate.model import Builder, Light, Material
from datasets.simulate.viewpoints import View

LIGHT = Light(
    sun=(0.0, 0.0, 0.0), sky=(0.95, 0.93, 0.9), reach=0.7, haze=0.0,
    lamps=(((-3, 3.4, 1), (1.8, 1.72, 1.6)), ((3, 3.4, 3), (1.8, 1.72, 1.6)), ((-2.5, 3.4, 7), (1.8, 1.72, 1.6)),
           ((3, 3.4, 10), (1.8, 1.72, 1.6))),
)  # fmt: skip
DESKS = tuple((x, z) for z in (0.0, 2.6, 5.2, 7.8) for x in (-3.9, -1.3, 1.3, 3.9))
THINGS = (props.mug, props.pen_cup, props.book_stack, props.photo_frame, props.pot_plant, props.packet, props.bottle,
          props.books_upright)  # fmt: skip


def build(b: Builder) -> None:
    """Fill the scene: a loft of 14 x 16 m, seen along z."""
    random = b.random
    _room(b)
    for x, z in DESKS:
        _desk(b, x, z)
        _chair(b.at((x + float(random.uniform(-0.2, 0.2)), 0, z + 0.75), float(random.uniform(-40, 40))))
    for x in np.arange(-5.6, 5.7, 2.25):
        props.shelf(b.at((float(x), 0, 10.9)), 1.9, 2.2, 6, Material("metal", 0.6, (0.45, 0.47, 0.5)))
    for side in (-1, 1):
        for z in np.arange(0.5, 10, 3.1):
            photo = props.pick(random, ("text", "page", "screen", "hubble"))
            place = (side * 6.92, 1.9, float(z))
            b.picture(place, (1.7, 1.1), photo, yaw=side * 90, frame_tint=(0.8, 0.8, 0.8))
    for x, z in ((-6.2, 1.2), (6.2, 2.4), (-6.2, 6.0), (6.2, 7.2), (0, 10.0), (-2.6, 3.9), (2.6, 6.5)):
        _plant(b.at((float(x), 0, float(z))))


def view(case: str, random: np.random.Generator) -> View:
    """A viewpoint of the kind."""
    if case == "Macro":
        x, z = DESKS[int(random.integers(12))]
        return View((x + random.uniform(-0.5, 0.5), random.uniform(0.85, 1.0), z - 0.66 + random.uniform(0, 0.12)),
                    random.uniform(-16, 16), random.uniform(4, 15), 50)  # fmt: skip
    return View(
        (random.uniform(-2.5, 2.5), random.uniform(1.9, 2.4), random.uniform(-4.2, -3.6)), random.uniform(-8, 8), 7, 44
    )


def _room(b: Builder) -> None:
    b.ground((-7, -5), (14, 17), 0.0, Material("wood", 1.1, (0.8, 0.75, 0.7)), cell=0.25)
    b.box((0, 3.8, 3.5), (14, 0.1, 17), Material("concrete", 3.0), cell=0.6)
    b.box((0, 0, 11.4), (14, 3.8, 0.1), Material("bricks", 1.5, (1.15, 1.1, 1.1)), cell=0.35)
    b.box((0, 0, -5.0), (14, 3.8, 0.1), Material("plaster", 3.0), cell=0.6)
    for x in (-7.0, 7.0):
        b.box((x, 0, 3.5), (0.1, 3.8, 17), Material("bricks", 1.5, (1.2, 1.15, 1.1)), cell=0.45)
    for x in (-2.6, 2.6):
        for z in (1.3, 6.5):
            b.cylinder((x, 0, z), 0.16, 3.8, Material("concrete", 1.0))
    for x in np.linspace(-5.5, 5.5, 5):
        b.pole((float(x), 3.5, -5), (float(x), 3.5, 11.4), 0.09, Material("metal", 0.7, (0.75, 0.75, 0.78)), 16)
    for x in (-3.9, -1.3, 1.3, 3.9):
        for z in (0.2, 2.8, 5.4, 8.0):
            lamp = b.at((x, 0, z))
            lamp.pole((0, 2.45, 0), (0, 3.8, 0), 0.006, Material("metal", 0.3, (0.2, 0.2, 0.2)), 6)
            lamp.cylinder((0, 2.28, 0), 0.19, 0.2, Material("metal", 0.3, (0.35, 0.4, 0.4)), top=0.06)


def _desk(b: Builder, x: float, z: float) -> None:
    random = b.random
    desk = b.at((x, 0, z))
    props.table(
        desk,
        (1.8, 0.74, 0.85),
        Material("wood", 0.8, props.tint(random, 0.8)),
        Material("metal", 0.4, (0.3, 0.3, 0.32)),
    )
    monitor = b.at((x + float(random.uniform(-0.25, 0.25)), 0.74, z + 0.2), float(random.uniform(-12, 12)))
    dark = Material("plain", 0.5, (0.16, 0.16, 0.17))
    monitor.box((0, 0, 0), (0.24, 0.015, 0.17), dark)
    monitor.box((0, 0.015, 0.03), (0.05, 0.16, 0.03), dark)
    monitor.box((0, 0.12, 0), (0.58, 0.36, 0.03), dark)
    monitor.box(
        (0, 0.13, -0.013), (0.56, 0.34, 0.012), Material(props.pick(random, ("screen", "screen", "text", "rocket")), 0)
    )
    keyboard = b.at((x, 0.74, z - 0.12), float(random.uniform(-6, 6)))
    keyboard.box((0, 0, 0), (0.43, 0.018, 0.14), Material("keys", 0))
    b.box((x + 0.32, 0.74, z - 0.12), (0.06, 0.03, 0.1), dark)
    for dx in (-0.3, 0.28):
        page = Material(props.pick(random, ("page", "text", "label")), 0, (1.2, 1.2, 1.2))
        b.box((x + dx + float(random.uniform(-0.1, 0.1)), 0.741, z - 0.25), (0.21, 0.004, 0.28), page,
              yaw=float(random.uniform(-30, 30)))  # fmt: skip
    props.clutter(b, (x - 0.85, z - 0.35), (0.5, 0.7), 0.74, 8, THINGS)
    props.clutter(b, (x + 0.4, z - 0.35), (0.45, 0.7), 0.74, 7, THINGS)


def _chair(b: Builder) -> None:
    cloth = Material("fabric", 0.3, props.tint(b.random, 0.25, 0.8))
    b.box((0, 0.44, 0), (0.48, 0.07, 0.48), cloth)
    b.box((0, 0.62, 0.24), (0.44, 0.5, 0.06), cloth, pitch=-6)
    b.pole((0, 0.08, 0), (0, 0.44, 0), 0.03, Material("metal", 0.3))
    for angle in np.arange(5) * 2 * np.pi / 5:
        b.pole(
            (0, 0.1, 0), (0.27 * float(np.cos(angle)), 0.05, 0.27 * float(np.sin(angle))), 0.018, Material("metal", 0.3)
        )


def _plant(b: Builder) -> None:
    b.cylinder((0, 0, 0), 0.2, 0.45, Material("speckle", 0.5, props.tint(b.random, 0.6)), top=0.24)
    b.leaves((0, 1.1, 0), (0.5, 0.7, 0.5), 150, (0.12, 0.34), props.tint(b.random, 0.7))
