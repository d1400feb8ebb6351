"""Compiled inner loops of the renderer: rays through the pixels, and the colour of what they hit.

Each function works on some rows and releases the GIL; a pixel's value depends on nothing but itself.
"""
# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False, check-untyped-defs=False

import math

import numpy as np

from datasets.simulate.patterns import SIZE
from datasets.simulate.textures import LEVELS
from icb.compiled import njit

GRADUAL = 1.0 / 4294967296.0
_SIZE = SIZE
_MOST = LEVELS - 1


@njit
def _hash(a, b):
    """Mix two 32-bit numbers (finaliser of MurmurHash3)."""
    h = (a ^ (b * np.uint32(0x9E3779B9) + np.uint32(0x7F4A7C15))) & np.uint32(0xFFFFFFFF)
    h = np.uint32(h ^ (h >> np.uint32(16)))
    h = np.uint32(h * np.uint32(0x85EBCA6B))
    h = np.uint32(h ^ (h >> np.uint32(13)))
    h = np.uint32(h * np.uint32(0xC2B2AE35))
    return np.uint32(h ^ (h >> np.uint32(16)))


@njit
def make_rays(rays, first, last, origin_row, camera, camera_to_world, across, down, seed):
    """Rays of rows ``first`` to ``last``, stratified ``across x down`` in each pixel, jittered by a hash.

    ``rays`` (rows, W, samples, 6) starts at image row ``origin_row``; ``camera`` is fx, fy, cx, cy.
    Directions have length 1 along the optical axis, so that the distance to a hit is its depth.
    ``seed`` 0 with one sample means pixel centres.
    """
    samples = across * down
    for row in range(first, last):
        for column in range(rays.shape[1]):
            pixel = _hash(np.uint32(origin_row + row), np.uint32(column))
            for sample in range(samples):
                if samples == 1:
                    dx = 0.0
                    dy = 0.0
                else:
                    h = _hash(pixel, np.uint32(seed) ^ np.uint32(sample * 0x10001))
                    jitter_x = h * GRADUAL
                    jitter_y = _hash(h, np.uint32(1)) * GRADUAL
                    dx = (sample % across + jitter_x) / across - 0.5
                    dy = (sample // across + jitter_y) / down - 0.5
                x = (column + dx - camera[2]) / camera[0]
                y = -(origin_row + row + dy - camera[3]) / camera[1]
                ray = rays[row, column, sample]
                for axis in range(3):
                    ray[axis] = camera_to_world[axis, 3]
                    ray[3 + axis] = (
                        camera_to_world[axis, 0] * x + camera_to_world[axis, 1] * y + camera_to_world[axis, 2]
                    )


@njit
def shade(
    pixels, first, last, rays, depth, triangle, inside, normal,
    corners, materials, tints, texels, offsets, spread, sky, haze,
):  # fmt: skip
    """Mean colour (0 to 1) of the samples of each pixel of rows ``first`` to ``last``.

    ``spread`` is the width of a sample at depth 1 m; ``sky`` (2, 3) zenith and horizon; ``haze`` the
    share per metre in which the horizon's colour replaces that of things.
    """
    samples = rays.shape[2]
    colour = np.empty(3, np.float32)
    for row in range(first, last):
        for column in range(rays.shape[1]):
            red = 0.0
            green = 0.0
            blue = 0.0
            for sample in range(samples):
                ray = rays[row, column, sample]
                length = math.sqrt(ray[3] * ray[3] + ray[4] * ray[4] + ray[5] * ray[5])
                hit = triangle[row, column, sample]
                if hit == 0xFFFFFFFF:
                    up = min(max(ray[4] / length, 0.0), 1.0)
                    blend = 1.0 - (1.0 - up) ** 4
                    red += sky[1, 0] + blend * (sky[0, 0] - sky[1, 0])
                    green += sky[1, 1] + blend * (sky[0, 1] - sky[1, 1])
                    blue += sky[1, 2] + blend * (sky[0, 2] - sky[1, 2])
                    continue
                corner = corners[hit]
                b = inside[row, column, sample, 0]
                c = inside[row, column, sample, 1]
                a = 1 - b - c
                n = normal[row, column, sample]
                slant = abs(n[0] * ray[3] + n[1] * ray[4] + n[2] * ray[5]) / length
                # The footprint is longer than wide on slanted surfaces: take the mean of both.
                width = depth[row, column, sample] * spread * corner[15] / math.sqrt(max(slant, 0.02))
                _look_up(
                    colour,
                    texels[materials[hit]],
                    offsets,
                    a * corner[0] + b * corner[5] + c * corner[10],
                    a * corner[1] + b * corner[6] + c * corner[11],
                    math.log2(max(width, 1.0)),
                )
                fog = 1 - math.exp(-haze * depth[row, column, sample])
                for channel in range(3):
                    light = a * corner[2 + channel] + b * corner[7 + channel] + c * corner[12 + channel]
                    value = min(colour[channel] * tints[hit, channel] * light, 1.0)
                    colour[channel] = value + fog * (sky[1, channel] - value)
                red += colour[0]
                green += colour[1]
                blue += colour[2]
            pixels[row, column, 0] = red / samples
            pixels[row, column, 1] = green / samples
            pixels[row, column, 2] = blue / samples


@njit
def _look_up(colour, texels, offsets, u, v, level):
    """Texture at (u, v), which repeats every 1, between two mip levels, bilinear in each; 0 to 1."""
    level = min(level, float(_MOST))
    low = min(int(level), _MOST - 1)
    share = level - low
    colour[0] = 0
    colour[1] = 0
    colour[2] = 0
    for step in range(2):
        weight = (share if step == 1 else 1 - share) / 255.0
        if weight == 0:
            continue
        size = _SIZE >> (low + step)
        x = (u - math.floor(u)) * size - 0.5
        y = (v - math.floor(v)) * size - 0.5
        left = math.floor(x)
        top = math.floor(y)
        fx = x - left
        fy = y - top
        x0 = int(left) & (size - 1)
        y0 = int(top) & (size - 1)
        x1 = (x0 + 1) & (size - 1)
        y1 = (y0 + 1) & (size - 1)
        start = offsets[low + step]
        for channel in range(3):
            upper = (1 - fx) * texels[start + y0 * size + x0, channel] + fx * texels[start + y0 * size + x1, channel]
            lower = (1 - fx) * texels[start + y1 * size + x0, channel] + fx * texels[start + y1 * size + x1, channel]
            colour[channel] += weight * ((1 - fy) * upper + fy * lower)
