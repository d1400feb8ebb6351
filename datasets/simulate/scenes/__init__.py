"""The five procedural scenes, by name. A scene is a module with ``LIGHT``, ``build`` and ``view``."""

from functools import lru_cache
from types import ModuleType

import numpy as np

from datasets.simulate.model import Builder, Scene
from datasets.simulate.scenes import city_street, industrial_yard, office, studio, village
from icb.errors import InputError

SCENES: dict[str, ModuleType] = {
    "Village": village,
    "IndustrialYard": industrial_yard,
    "CityStreet": city_street,
    "Studio": studio,
    "Office": office,
}

CASES: dict[str, tuple[str, ...]] = {
    "Macro": ("Village", "Studio", "Office"),
    "Trucking": ("Village", "IndustrialYard", "CityStreet"),
    "Standard": tuple(SCENES),
}
"""Which scenes each case is taken in, as in the paper's table of captured images."""


def scene_module(name: str) -> ModuleType:
    """The module of a scene."""
    if name not in SCENES:
        raise InputError(f"scene: got {name!r}, expected one of {', '.join(SCENES)}")
    return SCENES[name]


@lru_cache(maxsize=2)
def build_scene(name: str, seed: int = 0) -> Scene:
    """Build a scene; the seed decides how things lie about."""
    module = scene_module(name)
    builder = Builder(np.random.default_rng([seed, *name.encode()]))
    module.build(builder)
    return builder.finish(name, module.LIGHT)
