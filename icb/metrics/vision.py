"""Importing torchvision where its compiled part does not fit the installed torch."""

import importlib
import warnings
from types import ModuleType
from typing import Any

SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)

_declared: list[Any] = []  # a declaration ends with its library


def import_torchvision() -> ModuleType:
    """torchvision, of which model definitions and addresses of weights can be relied on.

    A wheel built for CUDA beside a torch without it cannot load its compiled operators, and then fails on import
    because it describes two of them. Declaring these two is enough for everything that does not call them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it complains of its other compiled parts
        try:
            return importlib.import_module("torchvision")
        except RuntimeError as error:
            if "torchvision::" not in str(error) or _declared:
                raise
        import torch

        libraries: Any = torch.library
        library = libraries.Library("torchvision", "DEF")
        for schema in SCHEMAS:
            library.define(schema)
        _declared.append(library)
        return importlib.import_module("torchvision")
