"""Rows with two hidden causes, and estimators that learn from them quickly."""

from __future__ import annotations

import numpy as np
import pytest

import setatoms

QUICK = {
    "GaussianAtomDetector": {"n_iter": 10, "adapt_every": 5},
    "ConeAtomDetector": {"n_iter": 10, "adapt_every": 5},
    "VectorAtomDetector": {"n_iter": 10},
    "SetAtomDetector": {"n_iter": 10, "adapt_every": 5, "kind": "cone"},
    "SetAtomEnsemble": {"budget": "fast"},
    "GaussianDictionaryLearning": {"n_iter": 10, "adapt_every": 5},
    "ConeDictionaryLearning": {"n_iter": 10, "adapt_every": 5},
}
DETECTORS = [name for name in QUICK if not name.endswith("Learning")]


def make(name: str, **parameters):
    """Return an estimator that learns quickly."""
    return getattr(setatoms, name)(**(QUICK[name] | {"random_state": 0} | parameters))


@pytest.fixture(scope="session")
def rows():
    """Return 6,000 rows (6000, 4) with two hidden causes; not to be written to."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(6_000, 2)) @ rng.normal(size=(2, 4)) + 0.2 * rng.normal(size=(6_000, 4))
    X.flags.writeable = False
    return X
