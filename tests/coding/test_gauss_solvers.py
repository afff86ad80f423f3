"""The solvers behind Gauss-L1, one by one: which rows each gets, and that it solves them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler, normalize

from setatoms import gauss_l1
from setatoms.coding import reference
from setatoms.coding.gauss.coder import GaussCoder

RADIUS = 0.08


def make(n_features, n_atoms, scale, radius=RADIUS, n_samples=24):
    """Return random signals with atoms in all directions."""
    rng = np.random.default_rng(0)
    atoms = normalize(rng.standard_normal((n_atoms, n_features)))
    return scale * rng.standard_normal((n_samples, n_features)), atoms, np.full(n_atoms, radius)


# Few atoms per code; many; and signals so long that atoms may turn wherever these are.
PROBLEMS = {
    "groups": make(n_features=5, n_atoms=15, scale=1.0),
    "alone": make(n_features=32, n_atoms=80, scale=3.0, radius=0.02),
    "descent": make(n_features=5, n_atoms=15, scale=2000.0),
}


def solvers(X, atoms, radii, tol=1e-9):
    return GaussCoder(atoms, radii, 1.0, 1.0, 1000, tol).solvers(X)


@pytest.mark.parametrize("name", PROBLEMS)
def test_each_solver_gets_its_rows_and_reaches_the_minimum(name):
    X, atoms, radii = PROBLEMS[name]
    own = np.array(solvers(X, atoms, radii)) == name
    assert own.sum() >= 20
    codes = gauss_l1(X, atoms, radii, tol=1e-9, max_sweeps=1000)
    plain = reference.gauss_l1(X, atoms, radii, tol=1e-10, max_sweeps=2000)
    above = (codes.objective / plain.objective - 1)[own]
    # of several local minima now and then another one
    assert (above < 1e-6).sum() >= own.sum() - 1
    assert above.max() < 1e-3


def test_rows_of_real_tables_are_solved_in_groups_but_for_a_few(load_adbench):
    X = StandardScaler().fit_transform(load_adbench("pendigits")[0][:3000])
    atoms = normalize(X[::20])
    found = Counter(solvers(X, atoms, np.full(len(atoms), RADIUS), tol=1e-4))
    assert found["groups"] > 0.8 * len(X)
    assert found["descent"] < 0.01 * len(X)


def test_every_row_is_counted_once_in_its_place():
    X, atoms, radii = PROBLEMS["groups"]
    far = np.full((1, X.shape[1]), 500.0)
    # more rows than one chunk has
    rows = np.concatenate([np.tile(X, (100, 1)), far, X])
    names = solvers(rows, atoms, radii)
    assert len(names) == len(rows)
    assert names.index("descent") == len(rows) - len(X) - 1
    assert Counter(names)["descent"] == 1
