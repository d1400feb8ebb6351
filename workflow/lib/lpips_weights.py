"""The weights of LPIPS, obtained once for a run."""

import hashlib
import json
import os
from pathlib import Path

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
            content = files.read_bytes(obtain_backbone(NET, path))
            # Beside the other results, where every machine that works on them can read it.
            kept = Path(output).with_name(f"{NET}.safetensors")
            files.write(kept, lambda temporary: temporary.write_bytes(content))
            found = {"net": NET, "path": str(kept), "sha256": hashlib.sha256(content).hexdigest()}
        except WeightsUnavailableError as error:
            found["reason"] = str(error)
            print(error, flush=True)
    text = json.dumps(found, indent=1, sort_keys=True)
    files.write(output, lambda temporary: temporary.write_text(text + "\n"))
