"""Procedural patterns: functions of a random generator to (SIZE, SIZE, 3), 0 to 1, that tile."""

from collections.abc import Callable

import numpy as np

SIZE = 512
"""Texels across."""

Maker = Callable[[np.random.Generator], np.ndarray]
PATTERNS: dict[str, Maker] = {}
"""Every pattern by name."""


def _pattern(make: Maker) -> Maker:
    PATTERNS[make.__name__] = make
    return make


def _rgb(grey: np.ndarray, colour: tuple[float, float, float] = (1, 1, 1)) -> np.ndarray:
    return np.asarray(grey[..., None] * np.asarray(colour))


def _noise(random: np.random.Generator, slope: float = 1.0, stretch: float = 1.0) -> np.ndarray:
    """Noise that tiles, spectrum falling as ``f^-slope``, mean 0, deviation 1; ``stretch`` down the columns."""
    y = np.fft.fftfreq(SIZE)[:, None] * stretch
    x = np.fft.fftfreq(SIZE)[None, :] / stretch**0.5
    frequency = np.hypot(x, y) * SIZE
    frequency[0, 0] = np.inf
    spectrum = np.fft.fft2(random.standard_normal((SIZE, SIZE))) * np.maximum(frequency, 1.0) ** -slope
    spectrum[0, 0] = 0
    field = np.fft.ifft2(spectrum).real
    return np.asarray(field / field.std())


def _grid() -> tuple[np.ndarray, np.ndarray]:
    """Row and column of each texel, 0 to 1."""
    steps = (np.arange(SIZE) + 0.5) / SIZE
    return np.repeat(steps[:, None], SIZE, axis=1), np.repeat(steps[None, :], SIZE, axis=0)


def _cells(rows: int, columns: int, *, bond: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Cell row, cell column, and place inside the cell (0 to 1); ``bond`` shifts every other row by half."""
    y, x = _grid()
    row = np.floor(y * rows).astype(int)
    across = x * columns + (0.5 * (row % 2) if bond else 0.0)
    column = np.floor(across).astype(int)
    return row, column % columns, y * rows - row, across - column


def _wall(random: np.random.Generator, rows: int, columns: int, gap: float, *, bond: bool) -> np.ndarray:
    """Brightness of a wall of cells, each a little different, with dark joints."""
    row, column, down, across = _cells(rows, columns, bond=bond)
    shade = random.uniform(0.72, 1.05, (rows, columns))[row, column]
    aspect = columns / rows
    joint = np.minimum(np.minimum(down, 1 - down), np.minimum(across, 1 - across) / aspect)
    return np.asarray(np.where(joint < gap, 0.42, shade) + 0.05 * _noise(random, 0.7))


@_pattern
def bricks(random: np.random.Generator) -> np.ndarray:
    """Red bricks in stretcher bond."""
    return _rgb(_wall(random, 16, 6, 0.07, bond=True), (0.74, 0.42, 0.33))


@_pattern
def stones(random: np.random.Generator) -> np.ndarray:
    """Large grey blocks."""
    return _rgb(_wall(random, 8, 5, 0.05, bond=True) + 0.06 * _noise(random, 1.3), (0.66, 0.64, 0.6))


@_pattern
def tiles(random: np.random.Generator) -> np.ndarray:
    """Square floor tiles."""
    return _rgb(_wall(random, 6, 6, 0.03, bond=False), (0.82, 0.8, 0.76))


@_pattern
def planks(random: np.random.Generator) -> np.ndarray:
    """Weathered boards along the columns."""
    _, column, _, across = _cells(1, 8)
    shade = random.uniform(0.62, 1.0, 8)[column]
    grain = 0.09 * _noise(random, 1.0, 8.0)
    return _rgb(np.where(np.minimum(across, 1 - across) < 0.03, 0.3, shade + grain), (0.62, 0.46, 0.32))


@_pattern
def wood(random: np.random.Generator) -> np.ndarray:
    """Smooth wood: rings seen along the grain."""
    _, x = _grid()
    rings = np.sin(2 * np.pi * (9 * x + 0.35 * _noise(random, 1.6, 6.0)))
    return _rgb(0.82 + 0.09 * rings + 0.05 * _noise(random, 0.6, 8.0), (0.8, 0.6, 0.4))


@_pattern
def bark(random: np.random.Generator) -> np.ndarray:
    """Tree bark."""
    return _rgb(0.62 + 0.2 * _noise(random, 0.9, 5.0), (0.55, 0.43, 0.33))


@_pattern
def thatch(random: np.random.Generator) -> np.ndarray:
    """Straw laid in courses."""
    _, _, down, _ = _cells(5, 1)
    return _rgb(0.62 + 0.32 * down + 0.16 * _noise(random, 0.5, 10.0), (0.82, 0.68, 0.38))


@_pattern
def shingles(random: np.random.Generator) -> np.ndarray:
    """Roof shingles in courses."""
    row, column, down, across = _cells(12, 10, bond=True)
    shade = random.uniform(0.6, 1.0, (12, 10))[row, column] * (0.65 + 0.4 * down)
    edge = (np.minimum(across, 1 - across) < 0.05) | (down < 0.07)
    return _rgb(np.where(edge, 0.25, shade) + 0.05 * _noise(random, 0.7), (0.6, 0.42, 0.36))


@_pattern
def plaster(random: np.random.Generator) -> np.ndarray:
    """Rendered wall with stains."""
    return _rgb(0.84 + 0.05 * _noise(random, 1.6) + 0.03 * _noise(random, 0.4), (0.97, 0.93, 0.86))


@_pattern
def concrete(random: np.random.Generator) -> np.ndarray:
    """Concrete slabs."""
    _, _, down, across = _cells(2, 2)
    joint = np.minimum(np.minimum(down, 1 - down), np.minimum(across, 1 - across))
    return _rgb(np.where(joint < 0.012, 0.36, 0.66) + 0.06 * _noise(random, 1.1) + 0.04 * _noise(random, 0.2))


@_pattern
def asphalt(random: np.random.Generator) -> np.ndarray:
    """Road surface."""
    return _rgb(0.36 + 0.05 * _noise(random, 0.2) + 0.03 * _noise(random, 1.5), (0.98, 1.0, 1.03))


@_pattern
def corrugated(random: np.random.Generator) -> np.ndarray:
    """Ribbed sheet metal, ribs along the columns, with streaks."""
    _, x = _grid()
    ribs = 0.68 + 0.2 * np.sin(2 * np.pi * 16 * x)
    return _rgb(ribs + 0.07 * np.minimum(_noise(random, 1.0, 6.0), 0.5))


@_pattern
def rust(random: np.random.Generator) -> np.ndarray:
    """Painted metal with rust patches."""
    patches = 1 / (1 + np.exp(-4 * (_noise(random, 1.4) - 0.3)))[..., None]
    paint = _rgb(0.72 + 0.04 * _noise(random, 0.5), (0.9, 0.95, 1.0))
    return np.asarray((1 - patches) * paint + patches * _rgb(0.6 + 0.15 * _noise(random, 0.6), (0.8, 0.45, 0.25)))


@_pattern
def metal(random: np.random.Generator) -> np.ndarray:
    """Brushed metal."""
    return _rgb(0.68 + 0.07 * _noise(random, 0.3, 12.0))


@_pattern
def hazard(random: np.random.Generator) -> np.ndarray:
    """Yellow and black slanted stripes."""
    y, x = _grid()
    stripe = ((x + y) * 6 % 1 < 0.5)[..., None]
    return np.asarray(np.where(stripe, (0.95, 0.78, 0.12), (0.12, 0.12, 0.12)) + _rgb(0.03 * _noise(random, 0.6)))


@_pattern
def stripes(random: np.random.Generator) -> np.ndarray:
    """Awning cloth, white and coloured."""
    _, x = _grid()
    cloth = np.where((x * 8 % 1 < 0.5)[..., None], (0.95, 0.93, 0.88), (0.75, 0.22, 0.2))
    return np.asarray(cloth + _rgb(0.03 * _noise(random, 0.8)))


@_pattern
def checker(random: np.random.Generator) -> np.ndarray:
    """Chequered cloth."""
    row, column, _, _ = _cells(10, 10)
    return _rgb(np.where((row + column) % 2, 0.85, 0.35) + 0.04 * _noise(random, 0.5))


@_pattern
def fabric(random: np.random.Generator) -> np.ndarray:
    """Woven cloth."""
    y, x = _grid()
    weave = 0.06 * np.sin(2 * np.pi * 64 * x) * np.sin(2 * np.pi * 64 * y)
    return _rgb(0.74 + weave + 0.06 * _noise(random, 0.9) + 0.04 * _noise(random, 0.1))


@_pattern
def carpet(random: np.random.Generator) -> np.ndarray:
    """A rug with a pattern of diamonds."""
    y, x = _grid()
    diamonds = (np.abs((x * 6) % 1 - 0.5) + np.abs((y * 6) % 1 - 0.5))[..., None]
    colour = np.where(
        diamonds < 0.22, (0.85, 0.75, 0.55), np.where(diamonds < 0.42, (0.2, 0.28, 0.4), (0.62, 0.22, 0.2))
    )
    return np.asarray(colour + _rgb(0.06 * _noise(random, 0.2)))


@_pattern
def leaf(random: np.random.Generator) -> np.ndarray:
    """A leaf with veins, greens that differ from place to place."""
    y, x = _grid()
    veins = np.exp(-(((x - 0.5) / 0.02) ** 2)) + 0.5 * np.exp(-((((y - np.abs(x - 0.5)) * 8 % 1) - 0.5) ** 2) / 0.004)
    return _rgb(0.62 + 0.2 * veins + 0.12 * _noise(random, 1.3), (0.5, 0.78, 0.32))


@_pattern
def books(random: np.random.Generator) -> np.ndarray:
    """A shelf of spines with titles."""
    image = np.full((SIZE, SIZE, 3), 0.12)
    column = 0
    while column < SIZE:
        width = min(int(random.integers(18, 46)), SIZE - column)
        top = int(random.integers(0, 90))
        colour = random.uniform(0.15, 0.9, 3)
        spine = image[top:, column + 1 : column + width - 1]
        spine[:] = colour
        ink = np.where(colour.mean() < 0.5, 0.92, 0.1)
        for line in range(top + 40, SIZE - 60, int(random.integers(16, 34))):
            if random.random() < 0.7:
                image[line : line + 5, column + 5 : column + width - 5] = ink
        image[top + 12 : top + 18, column + 1 : column + width - 1] = ink
        column += width
    return np.asarray(image + _rgb(0.02 * _noise(random, 0.4)))


@_pattern
def keys(random: np.random.Generator) -> np.ndarray:
    """A keyboard from above."""
    row, column, down, across = _cells(5, 14)
    cap = (np.minimum(down, 1 - down) > 0.09) & (np.minimum(across, 1 - across) > 0.07)
    letter = random.random((5, 14))[row, column]
    inked = cap & (np.abs(down - 0.4) < 0.16) & (np.abs(across - 0.4) < 0.06 + 0.14 * letter)
    return _rgb(np.where(inked, 0.92, np.where(cap, 0.3, 0.1)))


@_pattern
def facade(random: np.random.Generator) -> np.ndarray:
    """A storey-high grid of windows, some lit, with sills."""
    row, column, down, across = _cells(4, 4)
    pane = (np.abs(across - 0.5) < 0.3) & (np.abs(down - 0.48) < 0.33)
    bar = pane & ((np.abs(across - 0.5) < 0.025) | (np.abs(down - 0.4) < 0.02))
    sill = (np.abs(across - 0.5) < 0.36) & (np.abs(down - 0.85) < 0.035)
    glass = random.uniform(0.15, 0.6, (4, 4))[row, column] + 0.25 * (1 - down)
    wall = 0.72 + 0.05 * _noise(random, 1.0)
    colour = np.where(pane[..., None], _rgb(glass, (0.75, 0.9, 1.05)), _rgb(wall, (1.0, 0.95, 0.87)))
    return np.asarray(np.where((bar | sill)[..., None], 0.92, colour))


@_pattern
def screen(random: np.random.Generator) -> np.ndarray:
    """A monitor with windows full of lines."""
    image = np.full((SIZE, SIZE, 3), (0.12, 0.16, 0.24))
    for _ in range(5):
        top, left = random.integers(10, 260, 2)
        height, width = random.integers(120, 240, 2)
        window = image[top : top + height, left : left + width]
        window[:] = random.choice([0.95, 0.16])
        window[:14] = random.uniform(0.3, 0.8, 3)
        for line in range(24, window.shape[0] - 8, 11):
            end = int(random.integers(20, max(21, window.shape[1] - 8)))
            window[line : line + 4, 8 + int(random.integers(0, 3)) * 10 : end] = random.uniform(0.25, 0.85, 3)
    return image


@_pattern
def label(random: np.random.Generator) -> np.ndarray:
    """A packet: bands of colour, a round mark and lines of print."""
    y, x = _grid()
    colours = random.uniform(0.2, 0.95, (4, 3))
    image = colours[np.digitize(y, [0.18, 0.62, 0.9])]
    mark = np.hypot(x - 0.5, y - 0.4)
    image = np.where((mark < 0.16)[..., None], (0.96, 0.94, 0.9), image)
    image = np.where((np.abs(mark - 0.12) < 0.015)[..., None], (0.15, 0.15, 0.2), image)
    image = np.where((np.abs(mark) < 0.06)[..., None], (0.8, 0.2, 0.15), image)
    ink = (y > 0.66) & (y < 0.88) & ((y * 40) % 1 < 0.45) & (np.abs(x - 0.5) < 0.36)
    ink |= (np.abs(y - 0.09) < 0.03) & ((x * 24) % 1 < 0.6) & (np.abs(x - 0.5) < 0.4)
    return np.asarray(np.where(ink[..., None], (0.1, 0.1, 0.12), image))


@_pattern
def speckle(random: np.random.Generator) -> np.ndarray:
    """Glazed earthenware."""
    spots = _noise(random, 0.6) > 1.4
    return _rgb(np.where(spots, 0.4, 0.86 + 0.04 * _noise(random, 1.2)))


@_pattern
def plain(random: np.random.Generator) -> np.ndarray:
    """Paint, nearly even."""
    return _rgb(0.9 + 0.025 * _noise(random, 1.2) + 0.012 * _noise(random, 0.2))
