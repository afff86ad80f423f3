"""Fitted models of every kind, and a forger that gets every checksum right."""

from __future__ import annotations

import zlib
from functools import partial

import numpy as np
import pytest

import setatoms
from setatoms.persistence.arrays import describe, write_array
from setatoms.persistence.container import HEADER_NAME, Member, prefix, suffix
from setatoms.persistence.header import seal
from setatoms.persistence.models import read_model

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


@pytest.fixture(scope="session")
def forge():
    """Return a function that writes any header and arrays to a path, with right checksums."""

    def forge(path, header, arrays, **entries):
        listed = {name: describe(array) for name, array in arrays.items()} | entries
        content = seal(header | {"arrays": listed})
        members = [Member(HEADER_NAME, len(content), zlib.crc32(content))]
        with path.open("wb") as stream:
            stream.write(prefix(members[0]) + content)
            for name, array in arrays.items():
                # the member is as long as the array is, whatever the header says of it
                members.append(write_array(stream, name, array, describe(array)))
            stream.write(suffix(members))
        return path

    return forge


@pytest.fixture
def forged(forge, tmp_path):
    """Return a function that writes any header and arrays to a file and returns its path."""
    return partial(forge, tmp_path / "forged.setatoms")
