"""Rows with three hidden causes, and a detector of each kind fitted on them."""

import numpy as np
import pandas as pd
import pytest

import setatoms

DETECTORS = ["GaussianAtomDetector", "ConeAtomDetector", "VectorAtomDetector"]
NAMES = ["pressure", "flow", "heat", "speed", "load", "power"]


def make_rows(n_samples=300, seed=7):
    """Return normal rows (n_samples, 6) of different scales."""
    mixing = np.random.default_rng(7).normal(size=(3, 6))
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n_samples, 3)) @ mixing
    noisy = causes + 0.1 * rng.normal(size=(n_samples, 6))
    return noisy * [1, 10, 0.1, 5, 2, 1] + [0, 3, 1, -9, 0, 5]


@pytest.fixture(scope="session")
def rows():
    """Return rows that the detectors have not seen."""
    return make_rows(60, seed=8)


@pytest.fixture(scope="session")
def training():
    """Return the rows that the detectors learn from, with names."""
    return pd.DataFrame(make_rows(), columns=NAMES)


@pytest.fixture(scope="session", params=DETECTORS)
def detector(request, training):
    """Return a fitted detector of one view that knows the columns by name."""
    model = getattr(setatoms, request.param)(n_iter=30, views=("relation",), random_state=0)
    return model.fit(training)


@pytest.fixture
def frame(rows):
    """Return the unseen rows with names."""
    return pd.DataFrame(rows, columns=NAMES)
