"""Sine and cosine of the same numbers in one pass, in float32.

Arguments are reduced to ``r = a - k pi``, between ``-pi / 2`` and ``pi / 2``, where polynomials fitted with
the largest error as small as possible stay within 5e-9; with rounding, results are within 1.5e-7 for ``|a|`` up to
10,000, and as measured up to 100,000. Beyond that the reduction loses bits: at 200,000 results are within 2e-6, at a
million within 0.04, and from some ten millions on they may leave -1 to 1. Only a fit that diverges comes there.
"""

import numpy as np

from icb.compiled import njit

ROUND = np.float32(1.5 * 2**23)  # added and taken away again, it rounds to a whole number
PER_PI = np.float32(1 / np.pi)
# Pi in three parts, the first two of few enough bits that k times them is exact up to |a| of 10,000.
PI_1, PI_2 = np.float32(3.140625), np.float32(0.0009670257568359375)
PI_3 = np.float32(np.pi - 3.140625 - 0.0009670257568359375)
HALF, ONE, TWO = np.float32(0.5), np.float32(1), np.float32(2)
# sin r = r + r^3 (S1 + S2 r^2 + ...), cos r = 1 - r^2 / 2 + r^4 (C1 + C2 r^2 + ...)
S1, S2 = np.float32(-0.16666657096479956), np.float32(0.008333017291085395)
S3, S4 = np.float32(-0.0001980661517287557), np.float32(2.6000547141085267e-06)
C1, C2 = np.float32(0.04166665577313642), np.float32(-0.001388856916137882)
C3, C4 = np.float32(2.4769304214515174e-05), np.float32(-2.619381473464484e-07)


@njit
def sine_and_cosine(angle, cosine):
    """Replace every angle (radians, one axis) by its sine, and write its cosine."""
    for i in range(angle.size):
        a = angle[i]
        k = (a * PER_PI + ROUND) - ROUND
        r = ((a - k * PI_1) - k * PI_2) - k * PI_3
        odd = k - TWO * ((HALF * k + ROUND) - ROUND)  # 0, or 1 or -1: rounding takes halves to even numbers
        sign = ONE - TWO * odd * odd
        z = r * r
        angle[i] = sign * (r + r * z * (S1 + z * (S2 + z * (S3 + z * S4))))
        cosine[i] = sign * ((ONE - HALF * z) + z * z * (C1 + z * (C2 + z * (C3 + z * C4))))
