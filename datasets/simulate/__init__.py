"""Simulated raw captures: procedural scenes, ray-cast, written in the formats of the real thing.

Whatever comes from here carries ``simulated.json`` and is to be shown as simulated.
"""

from datasets.simulate.default_set import Capture, default_set, simulate_set
from datasets.simulate.ios import simulate_ios
from datasets.simulate.scenes import CASES, SCENES
from datasets.simulate.unity import simulate_unity

__all__ = ["CASES", "SCENES", "Capture", "default_set", "simulate_ios", "simulate_set", "simulate_unity"]
