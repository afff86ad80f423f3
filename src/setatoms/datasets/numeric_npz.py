"""Read numbers from an ``.npz`` file without ever running what a pickle says."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# All that the pickle of an object array of numbers calls, under NumPy's old and new module names.
_HARMLESS = {
    (module, name)
    for module in ("numpy", "numpy.core.multiarray", "numpy._core.multiarray")
    for name in ("_reconstruct", "dtype", "ndarray", "scalar")
}


class _NumbersOnly(pickle.Unpickler):
    """An unpickler that builds arrays and numbers and refuses everything else."""

    def find_class(self, module: str, name: str) -> Any:
        """Return one of the harmless names."""
        if (module, name) not in _HARMLESS:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is no number")
        return super().find_class(module, name)


def load_numbers(path: Path, *keys: str) -> list[NDArray[np.float64]]:
    """Return the arrays ``keys`` of an ``.npz`` file as float64.

    Arrays of Python objects, which only a pickle can hold, are read when every object is a number.
    """
    with np.load(path, allow_pickle=False) as data:
        missing = [key for key in keys if key not in data.files]
        if missing:
            raise ValueError(f"{path} has no array {missing[0]!r}, only {data.files}")
        return [_load_one(data, key) for key in keys]


def _load_one(data: Any, key: str) -> NDArray[np.float64]:
    """Return one array of an open file, unpickling numbers where NumPy refuses to."""
    try:
        array = data[key]
    except ValueError:
        array = _load_objects(data, key)
    return np.asarray(array, dtype=np.float64)


def _load_objects(data: Any, key: str) -> Any:
    """Return an array of Python numbers."""
    with data.zip.open(f"{key}.npy") as stream:
        np.lib.format.read_magic(stream)
        np.lib.format.read_array_header_1_0(stream)
        try:
            return _NumbersOnly(stream).load()
        except pickle.UnpicklingError as error:
            raise ValueError(f"array {key!r} is not safe to load: {error}") from error
