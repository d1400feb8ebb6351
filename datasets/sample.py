"""One sample of a dataset."""

from dataclasses import dataclass

import numpy as np

import icb
from datasets.provenance import Provenance
from icb import InputError


@dataclass(frozen=True, eq=False)
class Sample:
    """A sharp picture, the same scene blurred, and all that a blur model needs."""

    id: str
    dataset: str  #: ``VirtualCMB`` or ``RealCMB``
    scene: str | None
    case: str | None
    motion: str | None
    sharp: np.ndarray  #: (H, W, 3) uint8, at the reference pose
    blurry: np.ndarray  #: (H, W, 3) uint8
    depth: np.ndarray  #: (H, W) float32 metres, at the reference pose
    trajectory: icb.Trajectory  #: relative to the reference pose, with times
    camera: icb.Camera  #: of the stored pictures
    reference: int  #: index of the reference pose
    intrinsics_source: str  #: ``camera log``, ``stored image`` or ``full landscape``
    provenance: Provenance | None = None  #: None for what others built

    @property
    def simulated(self) -> bool:
        """Whether it comes from the simulator."""
        return self.provenance is not None and self.provenance.simulated


def check_id(name: str) -> str:
    """The id, if it is safe as the name of a file."""
    if not name or name.startswith(".") or len(name) > 200 or any(c in '/\\:*?"<>|' or ord(c) < 32 for c in name):
        raise InputError(f"sample id: got {name!r}, expected the name of a file without folders")
    try:
        name.encode()
    except UnicodeEncodeError:
        # Bytes of a name that are not UTF-8 come as lone surrogates, which repr escapes.
        raise InputError(f"sample id: got {name!r}, expected a name in UTF-8") from None
    return name
