"""Things that several scenes share: small things on tables, plants, trees, crates, shelves."""

from collections.abc import Callable

import numpy as np

from datasets.simulate.model import Builder, Colour, Material

POSTERS = ("astronaut", "cat", "coffee", "motorcycle", "retina", "rocket", "hubble", "coins", "moon", "text", "page")


def tint(random: np.random.Generator, low: float = 0.35, high: float = 1.0) -> Colour:
    """A random colour."""
    r, g, b = random.uniform(low, high, 3)
    return (float(r), float(g), float(b))


def pick(random: np.random.Generator, choices: tuple[str, ...]) -> str:
    """One of several names."""
    return choices[int(random.integers(len(choices)))]


def mug(b: Builder) -> None:
    """A mug with a handle, 9 cm high."""
    glaze = Material("speckle", 0.12, tint(b.random))
    b.cylinder((0, 0, 0), 0.036, 0.09, glaze, top=0.04)
    b.cylinder((0, 0.0901, 0), 0.035, 0.0005, Material("coffee", 0.3, (0.5, 0.35, 0.25)))
    for low, high in (((0.036, 0.02, 0), (0.062, 0.03, 0)), ((0.062, 0.03, 0), (0.062, 0.065, 0)),
                      ((0.062, 0.065, 0), (0.037, 0.075, 0))):  # fmt: skip
        b.pole(low, high, 0.006, glaze)


def bottle(b: Builder) -> None:
    """A bottle with a label, 25 cm high."""
    glass = Material("plain", 0.3, tint(b.random, 0.15, 0.6))
    b.cylinder((0, 0, 0), 0.035, 0.16, glass)
    b.cylinder((0, 0.03, 0), 0.0355, 0.09, Material("label", 0, tint(b.random, 0.7)))
    b.cylinder((0, 0.16, 0), 0.035, 0.035, glass, top=0.013)
    b.cylinder((0, 0.195, 0), 0.013, 0.05, glass)
    b.cylinder((0, 0.245, 0), 0.015, 0.012, Material("metal", 0.05, tint(b.random)))


def packet(b: Builder) -> None:
    """A cardboard packet with print or a photograph."""
    width, height, depth = b.random.uniform((0.06, 0.1, 0.04), (0.12, 0.18, 0.07))
    face = "label" if b.random.random() < 0.6 else pick(b.random, POSTERS)
    b.box((0, 0, 0), (width, height, depth), Material(face, 0, tint(b.random, 0.7)))


def book_stack(b: Builder) -> None:
    """A few books lying on each other."""
    level = 0.0
    for _ in range(int(b.random.integers(2, 6))):
        thick = float(b.random.uniform(0.012, 0.035))
        cover = Material(pick(b.random, (*POSTERS, "fabric", "label")), 0, tint(b.random, 0.5))
        yaw = float(b.random.uniform(-25, 25))
        b.box((0, level, 0), (0.15, thick, 0.21), cover, yaw=yaw)
        level += thick


def books_upright(b: Builder) -> None:
    """Books standing in a row, each of its own."""
    x = -0.1
    while x < 0.1:
        thick = float(b.random.uniform(0.012, 0.03))
        height, deep = b.random.uniform((0.16, 0.11), (0.24, 0.16))
        b.box((x + thick / 2, 0, 0), (thick * 0.96, height, deep), Material("books", 0.25, tint(b.random, 0.5)))
        x += thick


def pen_cup(b: Builder) -> None:
    """A cup with pens."""
    b.cylinder((0, 0, 0), 0.035, 0.1, Material("checker", 0.1, tint(b.random)))
    for _ in range(7):
        x, z = b.random.uniform(-0.02, 0.02, 2)
        b.pole((x, 0.02, z), (x * 2.6, float(b.random.uniform(0.15, 0.19)), z * 2.6), 0.004,
               Material("plain", 0.1, tint(b.random, 0.1)), 8)  # fmt: skip


def pot_plant(b: Builder) -> None:
    """A small plant in a pot, 25 cm high."""
    b.cylinder((0, 0, 0), 0.045, 0.08, Material("speckle", 0.15, (0.85, 0.5, 0.36)), top=0.06)
    b.cylinder((0, 0.078, 0), 0.055, 0.004, Material("gravel", 0.1, (0.5, 0.4, 0.3)))
    b.leaves((0, 0.17, 0), (0.08, 0.09, 0.08), 110, (0.022, 0.05), tint(b.random, 0.75))


def fruit(b: Builder) -> None:
    """A bowl with fruit."""
    b.cylinder((0, 0, 0), 0.04, 0.045, Material("speckle", 0.2, tint(b.random)), top=0.1)
    for angle in np.arange(6) * 1.1:
        x, z = 0.055 * np.cos(angle), 0.055 * np.sin(angle)
        colour: Colour = (0.95, float(b.random.uniform(0.2, 0.8)), 0.15)
        b.sphere((x, 0.065, z), 0.032, Material("speckle", 0.08, colour))
    b.sphere((0, 0.1, 0), 0.034, Material("speckle", 0.08, (0.8, 0.85, 0.2)))


def candle(b: Builder) -> None:
    """A candlestick."""
    brass = Material("metal", 0.1, (1.0, 0.8, 0.4))
    b.cylinder((0, 0, 0), 0.045, 0.012, brass)
    b.cylinder((0, 0.012, 0), 0.012, 0.09, brass, top=0.018)
    b.cylinder((0, 0.1, 0), 0.013, 0.12, Material("plain", 0.1, (1.0, 0.95, 0.85)))


def photo_frame(b: Builder) -> None:
    """A framed photograph leaning back."""
    wood = Material("wood", 0.2, tint(b.random, 0.4))
    b.box((0, 0, 0), (0.15, 0.19, 0.012), wood, pitch=12)
    b.box((0, 0.02, -0.009), (0.12, 0.15, 0.006), Material(pick(b.random, POSTERS), 0), pitch=12)


def globe(b: Builder) -> None:
    """A globe on a stand."""
    b.cylinder((0, 0, 0), 0.05, 0.015, Material("wood", 0.2, (0.6, 0.45, 0.35)))
    b.cylinder((0, 0.015, 0), 0.008, 0.05, Material("metal", 0.1))
    b.sphere((0, 0.13, 0), 0.07, Material(pick(b.random, ("moon", "retina", "hubble", "rust")), 0))


SMALL_THINGS: tuple[Callable[[Builder], None], ...] = (
    mug, bottle, packet, book_stack, books_upright, pen_cup, pot_plant, fruit, candle, photo_frame, globe,
)  # fmt: skip


def clutter(
    b: Builder,
    corner: tuple[float, float],
    size: tuple[float, float],
    height: float,
    count: int,
    kinds: tuple[Callable[[Builder], None], ...] = SMALL_THINGS,
) -> None:
    """Put small things on a rectangle (x, z) at ``height``, not too near to each other."""
    placed: list[np.ndarray] = []
    for _ in range(count * 8):
        if len(placed) == count:
            break
        spot = b.random.uniform(corner, np.add(corner, size))
        if all(np.linalg.norm(spot - other) > 0.13 for other in placed):
            placed.append(spot)
            kind = kinds[int(b.random.integers(len(kinds)))]
            kind(b.at((float(spot[0]), height, float(spot[1])), float(b.random.uniform(-60, 60))))


def table(b: Builder, size: tuple[float, float, float], top: Material, leg: Material) -> None:
    """A table of (width, height, depth) standing on the origin."""
    width, height, depth = size
    b.box((0, height - 0.035, 0), (width, 0.035, depth), top, cell=0.06)
    for x in (-width / 2 + 0.05, width / 2 - 0.05):
        for z in (-depth / 2 + 0.05, depth / 2 - 0.05):
            b.box((x, 0, z), (0.05, height - 0.035, 0.05), leg)


def shelf(b: Builder, width: float, height: float, boards: int, wood: Material) -> None:
    """Open shelves full of books and things, facing -z, back on z = 0.3."""
    b.box((0, 0, 0.29), (width, height, 0.02), wood)
    for x in (-width / 2, width / 2):
        b.box((x, 0, 0.15), (0.03, height, 0.3), wood)
    for level in np.linspace(0.08, height - 0.03, boards):
        b.box((0, float(level), 0.15), (width, 0.025, 0.3), wood)
        if level > height - 0.2:
            continue
        x = -width / 2 + 0.12
        while x < width / 2 - 0.12:
            kind = (books_upright, books_upright, book_stack, bottle, packet, photo_frame, globe, pot_plant)[
                int(b.random.integers(8))
            ]
            kind(b.at((x, float(level) + 0.025, 0.13)))
            x += 0.24


def tree(b: Builder, height: float, leaves: int = 260) -> None:
    """A tree with a trunk, branches and leaves."""
    bark = Material("bark", 0.8)
    b.cylinder((0, 0, 0), 0.045 * height, 0.55 * height, bark, top=0.025 * height)
    green = (float(b.random.uniform(0.7, 1.1)), float(b.random.uniform(0.8, 1.05)), float(b.random.uniform(0.5, 0.9)))
    for _ in range(4):
        x, z = b.random.uniform(-0.22, 0.22, 2) * height
        y = float(b.random.uniform(0.58, 0.85)) * height
        b.pole((0, 0.45 * height, 0), (float(x), y, float(z)), 0.012 * height, bark)
        radius = 0.2 * height
        b.leaves((float(x), y, float(z)), (radius, radius * 0.8, radius), leaves // 4,
                 (0.05 * height, 0.09 * height), green)  # fmt: skip


def bush(b: Builder, radius: float) -> None:
    """A low bush."""
    b.leaves((0, 0.6 * radius, 0), (radius, 0.7 * radius, radius), 90, (0.16 * radius, 0.3 * radius),
             tint(b.random, 0.7))  # fmt: skip


def barrel(b: Builder, wood: Material) -> None:
    """A barrel with hoops, 0.9 m high."""
    b.cylinder((0, 0, 0), 0.27, 0.45, wood, top=0.33)
    b.cylinder((0, 0.45, 0), 0.33, 0.45, wood, top=0.27)
    for level in (0.12, 0.42, 0.72):
        b.cylinder((0, level, 0), 0.335 - 0.1 * abs(level - 0.42), 0.05, Material("rust", 0.5, (0.6, 0.6, 0.6)))


def crate(b: Builder, size: float) -> None:
    """A wooden crate with battens."""
    wood = Material("planks", 0.9 * size, tint(b.random, 0.75))
    b.box((0, 0, 0), (size, size, size), wood)
    for x in (-0.46 * size, 0.46 * size):
        for z in (-0.48 * size, 0.48 * size):
            b.box((x, 0, z), (0.1 * size, 1.01 * size, 0.08 * size), Material("wood", 0.5, (0.8, 0.75, 0.7)))


def rock(b: Builder, radius: float) -> None:
    """A boulder."""
    x, y, z = b.random.uniform(0.6, 1.2, 3) * radius
    b.sphere((0, 0.3 * y, 0), (float(x), float(y), float(z)), Material("gravel", 1.5 * radius, (0.8, 0.78, 0.74)))
