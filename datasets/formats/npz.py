"""``.npz`` archives whose bytes depend on their content alone."""

import io
import pickle
import zipfile
from typing import Any

import numpy as np

EPOCH = (1980, 1, 1, 0, 0, 0)


def npz_bytes(**arrays: np.ndarray) -> bytes:
    """An archive as ``numpy.savez`` writes it, but with one and the same time stamp, and object arrays
    under names that every version of numpy since 1.17 can load.
    """
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for key, array in arrays.items():
            archive.writestr(zipfile.ZipInfo(f"{key}.npy", EPOCH), _npy_bytes(array))
    return stream.getvalue()


def objects(values: list[Any]) -> np.ndarray:
    """A one-dimensional object array of these, whatever they are."""
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _npy_bytes(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    if array.dtype != object:
        np.lib.format.write_array(stream, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
        return stream.getvalue()
    np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(array))
    # Protocol 3 has neither frames nor lengths before names, so that a name can be exchanged in place.
    data = pickle.dumps(array, protocol=3)
    return stream.getvalue() + data.replace(b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n")
