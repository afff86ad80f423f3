"""Fitted models of every kind, and a forger that gets every checksum right."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest
from safetensors.numpy import save

import setatoms
from setatoms.persistence.header import KEY, seal
from setatoms.persistence.models import digest_of, read_model

ESTIMATORS = [
    "ConeAtomDetector",
    "ConeDictionaryLearning",
    "GaussianAtomDetector",
    "GaussianDictionaryLearning",
    "SetAtomEnsemble",
    "VectorAtomDetector",
]


@pytest.fixture(params=ESTIMATORS)
def name(request):
    """Return the name of each estimator in turn."""
    return request.param


@pytest.fixture(scope="session")
def rows():
    """Return 300 rows (300, 5) with two hidden causes."""
    rng = np.random.default_rng(3)
    causes = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 5))
    return causes + 0.2 * rng.normal(size=(300, 5))


@pytest.fixture(scope="session")
def models(rows):
    """Return a fitted estimator of each name; not to be written to."""
    return {
        name: getattr(setatoms, name)(n_iter=20, random_state=0).fit(rows) for name in ESTIMATORS
    }


@pytest.fixture(scope="session")
def saved(models, tmp_path_factory):
    """Return the path of a saved cone detector; not to be written to."""
    path = tmp_path_factory.mktemp("models") / "cone.setatoms"
    models["ConeAtomDetector"].save(path)
    return path


@pytest.fixture
def stored(saved):
    """Return header and arrays of the saved cone detector, to be tampered with."""
    model = read_model(saved)
    return model.header, dict(model.arrays)


def split(content):
    """Return the JSON of a safetensors file, parsed, and the numbers behind it."""
    start = 8 + int.from_bytes(content[:8], "little")
    return json.loads(content[8:start]), content[start:]


def joined(start, numbers=b""):
    """Return a safetensors file of this JSON, parsed or in bytes, and these numbers."""
    text = start if isinstance(start, bytes) else json.dumps(start).encode()
    return len(text).to_bytes(8, "little") + text + numbers


@pytest.fixture(scope="session")
def forge():
    """Return a function that writes any header and arrays to a path, with right checksums.

    Arguments that name an array replace some of what safetensors says of it.
    """

    def forge(path, header, arrays, **entries):
        # safetensors would write what lies behind a view
        arrays = {name: np.array(array, order="C") for name, array in arrays.items()}
        text = seal(header | {"arrays_sha256": digest_of(arrays)})
        start, numbers = split(save(arrays, metadata={KEY: text}))
        for name, entry in entries.items():
            start[name] = start.get(name, {}) | entry
        path.write_bytes(joined(start, numbers))
        return path

    return forge


@pytest.fixture
def forged(forge, tmp_path):
    """Return a function that writes any header and arrays to a file and returns its path."""
    return partial(forge, tmp_path / "forged.setatoms")
