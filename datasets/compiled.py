"""Compiled inner loops of reading and averaging. They release the GIL."""
# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False, check-untyped-defs=False

from icb.compiled import njit


@njit
def _byte(value):
    """``floor(v + 0.5)``, kept within 0 and 255."""
    return int(min(max(value + 0.5, 0.0), 255.0))


@njit
def rgb_to_nv12(rgb, luma, chroma):
    """BT.709 full range; ``rgb`` (H, W, 3), ``luma`` (H, W) and ``chroma`` (H / 2, W / 2, 2) are written."""
    for i in range(chroma.shape[0]):
        for j in range(chroma.shape[1]):
            u = 0.0
            v = 0.0
            for k in range(2 * i, 2 * i + 2):
                for m in range(2 * j, 2 * j + 2):
                    red = float(rgb[k, m, 0])
                    blue = float(rgb[k, m, 2])
                    y = 0.2126 * red + 0.7152 * rgb[k, m, 1] + 0.0722 * blue
                    luma[k, m] = _byte(y)
                    u += blue - y
                    v += red - y
            chroma[i, j, 0] = _byte(0.5389 * 0.25 * u + 128.0)
            chroma[i, j, 1] = _byte(0.6350 * 0.25 * v + 128.0)


@njit
def nv12_to_rgb(luma, chroma, rgb):
    """The inverse; ``rgb`` is written."""
    for i in range(luma.shape[0]):
        for j in range(luma.shape[1]):
            y = float(luma[i, j])
            red = y + (chroma[i // 2, j // 2, 1] - 128.0) / 0.6350
            blue = y + (chroma[i // 2, j // 2, 0] - 128.0) / 0.5389
            rgb[i, j, 0] = _byte(red)
            rgb[i, j, 1] = _byte((y - 0.2126 * red - 0.0722 * blue) / 0.7152)
            rgb[i, j, 2] = _byte(blue)


@njit
def unpack_depth(packed, metres, step, least, nothing):
    """``metres = (255^2 R + 255 G + B + 1) step``, or ``nothing`` below ``least``; ``metres`` (H, W) is written."""
    for i in range(metres.shape[0]):
        for j in range(metres.shape[1]):
            number = 65025 * int(packed[i, j, 0]) + 255 * int(packed[i, j, 1]) + int(packed[i, j, 2]) + 1
            value = number * step
            metres[i, j] = nothing if value < least else value


@njit
def add_bytes(total, frame):
    """``total += frame``; flat uint32 and uint8 of the same length."""
    for i in range(total.size):
        total[i] += frame[i]


@njit
def add_looked_up(total, frame, table):
    """``total += table[frame]``; flat uint64 and uint8, ``table`` of 256 uint64."""
    for i in range(total.size):
        total[i] += table[frame[i]]
