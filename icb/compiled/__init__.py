"""Compiled inner loops.

Every function here works on one band of image rows and releases the GIL; :mod:`icb.threads` hands the
bands to threads. A pixel's value never depends on how the image was cut into bands, so results are
the same for any number of threads.
"""

from typing import Any

import numba

#: Options shared by all compiled functions. `contract` allows fused multiply-add and nothing else, so
#: NaN and infinity keep their meaning. `boundscheck` stays off even if the user's environment asks
#: for it: the inner loops rely on slices being views.
OPTIONS: dict[str, Any] = {"nogil": True, "cache": True, "fastmath": {"contract"}, "error_model": "numpy"}

njit = numba.njit(**OPTIONS)
