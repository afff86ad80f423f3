"""Model files: as they are, and with checksums put right so that the checks behind are reached.

The first byte of an input says what the rest is: a whole file, the JSON of a header, or the bytes
of all arrays one after the other.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
from pathlib import Path

import numpy as np
from safetensors.numpy import save

import setatoms
from setatoms.estimators.integrity import ALLOWED_KINDS
from setatoms.persistence import ModelFileError, read_header
from setatoms.persistence.errors import FlawError
from setatoms.persistence.header import KEY, seal
from setatoms.persistence.models import StoredModel, digest_of, read_model

_SCRATCH = Path(tempfile.gettempdir(), f"setatoms-fuzz-{os.getpid()}")
_WHOLE, _HEADER, _ARRAYS = range(3)


def _model(name: str) -> bytes:
    """Return a small model file of a class."""
    X = np.random.default_rng(0).normal(size=(120, 3))
    model = getattr(setatoms, name)(n_atoms=3, n_iter=10, random_state=0, n_jobs=1)
    model.fit(X).save(_SCRATCH)
    return _SCRATCH.read_bytes()


def _read(content: bytes) -> StoredModel:
    _SCRATCH.write_bytes(content)
    return read_model(_SCRATCH)


_FILES = {name: _model(name) for name in ALLOWED_KINDS}
_STORED = {name: _read(content) for name, content in _FILES.items()}
_CONES = _STORED["ConeAtomDetector"]


def seeds() -> list[bytes]:
    """Return the models as they are, their headers, and the arrays of one."""
    whole = [bytes([_WHOLE]) + content for content in _FILES.values()]
    headers = [
        bytes([_HEADER]) + json.dumps(model.header).encode("ascii") for model in _STORED.values()
    ]
    numbers = b"".join(array.tobytes() for array in _CONES.arrays.values())
    return [*whole, *headers, bytes([_ARRAYS]) + numbers]


def one_input(data: bytes) -> None:
    """Load what an input makes; a model that loads must score and save."""
    makers = (_whole, _with_header, _with_arrays)
    _SCRATCH.write_bytes(makers[data[0] % 3](data[1:]) if data else b"")
    try:
        read_header(_SCRATCH)
        model = setatoms.load(_SCRATCH)
    except ModelFileError:
        return
    model.save(_SCRATCH)
    if hasattr(model, "score_samples") and model.n_features_in_ < 100:
        scores = model.set_params(missing="error").score_samples(np.ones((1, model.n_features_in_)))
        if not np.isfinite(scores).all():
            raise RuntimeError(f"a model that loads scores {scores}")


def _whole(data: bytes) -> bytes:
    return data


def _with_header(data: bytes) -> bytes:
    """Return a file with this JSON as its header, and the arrays of its class."""
    try:
        header = json.loads(data)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        return data
    return _file(header, _STORED.get(str(header.get("estimator")), _CONES).arrays)


def _with_arrays(data: bytes) -> bytes:
    """Return a model file with these bytes in its arrays."""
    rest, arrays = io.BytesIO(data), {}
    for name, array in _CONES.arrays.items():
        content = rest.read(array.nbytes).ljust(array.nbytes, b"\0")
        arrays[name] = np.frombuffer(content, array.dtype).reshape(array.shape)
    return _file(_CONES.header, arrays)


def _file(header: dict[str, object], arrays: dict[str, np.ndarray]) -> bytes:
    try:
        text = seal(header | {"arrays_sha256": digest_of(arrays)})
    except FlawError:  # NaN, numbers too large, nested too deeply
        return b""
    return save(arrays, metadata={KEY: text})
