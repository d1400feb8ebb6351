"""The weights of LPIPS, obtained once for a run."""

import hashlib
import json
import os

from icb import files
from icb.metrics.backbones import WeightsUnavailableError, obtain_backbone

NET = "vgg"


def obtain(output: str | os.PathLike[str], *, wanted: bool, path: str | None) -> None:
    """Write where the weights are, or why there are none: the run goes on without."""
    found: dict[str, str] = {}
    if not wanted:
        found["reason"] = "switched off in the configuration"
    else:
        try:
            place = obtain_backbone(NET, path)
            found = {"net": NET, "path": str(place.absolute())}
            found["sha256"] = hashlib.sha256(files.read_bytes(place)).hexdigest()
        except WeightsUnavailableError as error:
            found["reason"] = str(error)
            print(error, flush=True)
    text = json.dumps(found, indent=1, sort_keys=True)
    files.write(output, lambda temporary: temporary.write_text(text + "\n"))
