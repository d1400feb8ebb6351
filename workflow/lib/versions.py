"""Which versions of what made a result."""

import platform
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

import icb

PACKAGES = {
    "numpy": ("numpy",),
    "numba": ("numba",),
    "opencv": ("opencv-python-headless", "opencv-python"),
    "torch": ("torch",),
}


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Of Python, this project, and the libraries that compute."""
    found = {"icb": icb.__version__, "python": platform.python_version()}
    for name, candidates in PACKAGES.items():
        for candidate in candidates:
            try:
                found[name] = version(candidate)
                break
            except PackageNotFoundError:
                continue
    return found
