"""Blur models by the name that the configuration gives them."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from icb import BlurOperator, Camera, InputError, Trajectory

# By name rather than imported, so that the version of one model's code does not depend on the other's.
MODELS = {"icb": ("icb.compositing", "ImageCompositingBlur"), "pwb": ("icb.pixelwise", "PixelWiseBlur")}


def module_of(model: Mapping[str, Any]) -> str:
    """The module that holds a model."""
    if model.get("model") not in MODELS:
        raise InputError(f"model: got {model.get('model')!r}, expected one of {', '.join(MODELS)}")
    return MODELS[model["model"]][0]


def build_operator(model: Mapping[str, Any], depth: np.ndarray, trajectory: Trajectory, camera: Camera) -> BlurOperator:
    """The operator: ``model`` is the kind under that key and its parameters."""
    kind = getattr(import_module(module_of(model)), MODELS[model["model"]][1])
    parameters = {name: value for name, value in model.items() if name != "model"}
    operator: BlurOperator = kind(depth, trajectory, camera, **parameters)
    return operator


def warm_up(model: Mapping[str, Any]) -> None:
    """Load compiled code before anything is timed: along a line, and in all six degrees of freedom."""
    depth = np.linspace(1, 4, 96, dtype=np.float32).reshape(8, 12)
    camera = Camera(8.0, 8.0, 5.5, 3.5)
    for trajectory in (Trajectory.truck(speed=1.0, rate=100.0), Trajectory.shake(seed=0)):
        build_operator(model, depth, trajectory, camera)(np.zeros((8, 12, 3), np.float32))
