"""What is done of a fit, kept in a folder, so that another one can go on from there."""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import suppress
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from setatoms import __version__
from setatoms.coding.gauss.problem import KnownCodes
from setatoms.estimators.codec import decode, encode
from setatoms.learning import Standing
from setatoms.learning.passes import State
from setatoms.persistence.atomic import replacing
from setatoms.persistence.drafts import remove_abandoned
from setatoms.persistence.errors import FlawError
from setatoms.rows import Rows

_FILE = "checkpoint.json"
_KEY = "setatoms"
# Parameters on which results do not depend.
_WITHOUT_EFFECT = ("n_jobs", "verbose")
# Iterations are kept every so many seconds.
_SECONDS = 30.0


class CheckpointError(ValueError):
    """A checkpoint that is not one of this fit, or is damaged."""


class Checkpoint:
    """A folder with what is done of one fit.

    Parameters
    ----------
    path : path-like or None
        The folder; made if it is not there. None keeps nothing.
    estimator : estimator
        Who is learning.
    rows : Rows
        What from.
    """

    def __init__(self, path: str | PathLike[str] | None, estimator: Any, rows: Rows) -> None:
        self._folder = None if path is None else Path(path)
        self._stages: list[str] = []
        if self._folder is None:
            return
        if not _is_number(estimator.random_state):
            raise CheckpointError(
                f"checkpoint={str(path)!r} goes with a whole number as random_state, so that a "
                f"later fit draws the same, and it is {estimator.random_state!r}; give one"
            )
        known = describe(estimator, rows)
        file = self._folder / _FILE
        if file.exists():
            _compare(self._folder, _read_json(file), known)
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError(
                f"checkpoint={str(path)!r} is no folder and cannot be made one "
                f"({error.strerror}); give another place"
            ) from error
        remove_abandoned(self._folder)
        if any(self._folder.iterdir()):
            raise CheckpointError(
                f"checkpoint={str(path)!r} is not empty and no checkpoint; give another folder"
            )
        with replacing(file) as stream:
            stream.write(json.dumps(known).encode())

    def stage(self, name: str) -> Stage | None:
        """Return where what is done of one part of the fit is kept, if it is."""
        self._stages.append(name)
        return None if self._folder is None else Stage(self._folder, name)

    def remove(self) -> None:
        """Remove what was kept: the fit is done. The folder goes too, if nothing else is in it."""
        if self._folder is None:
            return
        # last the file that says whose the others are
        for pattern in (*(f"{name}-*.safetensors" for name in self._stages), _FILE):
            for file in self._folder.glob(pattern):
                file.unlink(missing_ok=True)
        remove_abandoned(self._folder)
        with suppress(OSError):
            self._folder.rmdir()


class Stage:
    """What is done of one part of a fit.

    Parameters
    ----------
    folder : Path
        Where it is kept.
    name : str
        What the part is called.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._last = time.monotonic()

    def read(self, what: str) -> Any:
        """Return something that was kept, or None."""
        file = self._file(what)
        if not file.exists():
            return None
        try:
            with safe_open(file, framework="np", backend="pread") as stored:
                arrays, text = stored.get_tensors(), stored.metadata()[_KEY]
            return decode(json.loads(text), arrays)
        except (SafetensorError, FlawError, KeyError, ValueError) as error:
            raise CheckpointError(
                f"{file} is damaged ({error}); delete it, and what it holds is done again"
            ) from error

    def write(self, what: str, value: Any) -> None:
        """Keep something, whole or not at all."""
        arrays: dict[str, NDArray[Any]] = {}
        text = json.dumps(encode(value, what, arrays))
        packed = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        with replacing(self._file(what)) as stream:
            stream.write(save(packed, metadata={_KEY: text}))

    def resume(self) -> Standing | None:
        """Return how far iterations were, or None."""
        kept = self.read("iterations")
        if kept is None:
            return None
        k, atoms, radii, users, still, history, random, states = kept
        parts = [State(filled, codes and KnownCodes(*codes)) for filled, codes in states]
        return Standing(k, atoms, radii, users, still, history, json.loads(random), parts)

    def is_due(self) -> bool:
        """Tell whether it is time to keep how far iterations are."""
        return time.monotonic() - self._last > _SECONDS

    def keep(self, standing: Standing) -> None:
        """Keep how far iterations are."""
        states = tuple((filled, codes and tuple(codes)) for filled, codes in standing.states)
        self.write("iterations", (*standing[:-2], json.dumps(standing.random), states))
        self._last = time.monotonic()

    def _file(self, what: str) -> Path:
        return self._folder / f"{self._name}-{what}.safetensors"


def describe(estimator: Any, rows: Rows) -> dict[str, Any]:
    """Return what tells this fit from another: who learns, with which parameters, from what."""
    parameters = {
        name: _written(value)
        for name, value in sorted(estimator.get_params(deep=False).items())
        if name not in _WITHOUT_EFFECT
    }
    digest = hashlib.sha256(b"".join(rows.map(_digest_of)))
    return {
        "version": __version__,
        "estimator": type(estimator).__name__,
        "parameters": parameters,
        "n_rows": rows.n_rows,
        "n_features": rows.n_features,
        "rows": digest.hexdigest(),
    }


def _is_number(seed: Any) -> bool:
    return isinstance(seed, Integral) and not isinstance(seed, bool)


def _written(value: Any) -> str:
    """Return a parameter as text, all of it: `repr` leaves out what is inside a large array."""
    return repr(np.asarray(value).tolist() if hasattr(value, "__array__") else value)


def _digest_of(X: NDArray[np.float64]) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(X).data).digest()


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except ValueError as error:
        raise CheckpointError(f"{file} is damaged ({error}); delete its folder") from error


def _compare(folder: Path, kept: Any, known: dict[str, Any]) -> None:
    """Raise if a checkpoint is one of another fit."""
    if kept == known:
        return
    kept = kept if isinstance(kept, dict) else {}
    other = [name for name in known if kept.get(name) != known[name]]
    if other == ["parameters"] and isinstance(kept["parameters"], dict):
        new = known["parameters"]
        other = [name for name in new if kept["parameters"].get(name) != new[name]]
    raise CheckpointError(
        f"checkpoint={str(folder)!r} is one of another fit: {', '.join(other)} differ; give "
        "another folder, or delete it"
    )
