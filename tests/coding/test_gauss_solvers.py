"""The solvers behind Gauss-L1, one by one: which rows each gets, and that it solves them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler, normalize

from setatoms import gauss_l1
from setatoms.coding import reference
from setatoms.coding.gauss.alone import allocate_refinement, refine
from setatoms.coding.gauss.coder import GaussCoder
from setatoms.coding.gauss.descent import allocate_past, descend
from setatoms.coding.gauss.group import INVERSE, LEFT, LIFT, SPREAD, VALUE, Z, allocate_group
from setatoms.coding.gauss.objective import evaluate

RADIUS = 0.08


def make(n_features, n_atoms, scale, radius=RADIUS, n_samples=24):
    """Return random signals with atoms in all directions."""
    rng = np.random.default_rng(0)
    atoms = normalize(rng.standard_normal((n_atoms, n_features)))
    return scale * rng.standard_normal((n_samples, n_features)), atoms, np.full(n_atoms, radius)


# Few atoms per code; many; and signals so long that atoms may turn wherever these are.
PROBLEMS = {
    "few atoms": ("groups", make(n_features=5, n_atoms=15, scale=1.0)),
    "many atoms": ("groups", make(n_features=32, n_atoms=80, scale=3.0, radius=0.02)),
    "long signals": ("newton", make(n_features=5, n_atoms=15, scale=2000.0)),
}


def solvers(X, atoms, radii, tol=1e-9):
    return GaussCoder(atoms, radii, 1.0, 1.0, 1000, tol).solvers(X)


@pytest.mark.parametrize("name", PROBLEMS)
def test_each_solver_gets_its_rows_and_reaches_the_minimum(name):
    solver, (X, atoms, radii) = PROBLEMS[name]
    own = np.array(solvers(X, atoms, radii)) == solver
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
    radii = np.full(len(atoms), RADIUS)
    found = Counter(solvers(X, atoms, radii, tol=1e-7))
    assert found["newton"] < 0.01 * len(X)
    assert found["descent"] == 0
    # nor does one of them take much longer than others
    codes = gauss_l1(X, atoms, radii, tol=1e-7)
    assert np.percentile(codes.n_sweeps, 99.9) < 10 * np.median(codes.n_sweeps)


@pytest.mark.parametrize("tol", [1e-9, 1e-2])
def test_rows_of_zeros_take_no_time(tol):
    X, atoms, radii = PROBLEMS["few atoms"][1]
    X = np.concatenate([X, np.zeros((3, X.shape[1]))])
    codes = gauss_l1(X, atoms, radii, tol=tol)
    assert (codes.n_sweeps[-3:] <= 1).all()
    assert (codes.support[-3:] == -1).all()
    assert (codes.objective[-3:] == 0).all()
    if tol < 1e-5:  # in single precision, anything as small goes alone
        assert solvers(X, atoms, radii, tol)[-3:] == ["groups"] * 3


def test_every_row_is_counted_once_in_its_place():
    X, atoms, radii = PROBLEMS["few atoms"][1]
    far = np.full((1, X.shape[1]), 500.0)
    # more rows than one chunk has
    rows = np.concatenate([np.tile(X, (100, 1)), far, X])
    names = solvers(rows, atoms, radii)
    assert len(names) == len(rows)
    assert names.index("newton") == len(rows) - len(X) - 1
    assert Counter(names)["newton"] == 1


def test_nearly_parallel_atoms_are_solved_in_groups():
    """Each atom has a copy that is turned by a thousandth, and some have an equal one."""
    X, atoms, _ = make(n_features=8, n_atoms=24, scale=1.5, n_samples=60)
    turned = normalize(atoms + 1e-3 * np.random.default_rng(1).standard_normal(atoms.shape))
    atoms = np.concatenate([atoms, turned, atoms[:6]])
    radii = np.linspace(0.04, 0.12, len(atoms))
    assert Counter(solvers(X, atoms, radii, tol=1e-7))["groups"] >= 58
    codes = gauss_l1(X, atoms, radii, tol=1e-7)
    plain = reference.gauss_l1(X, atoms, radii, tol=1e-8, max_sweeps=1000)
    above = codes.objective / plain.objective - 1
    # atoms that may stand in for each other have many local minima, about equally good
    assert np.median(above) < 1e-6
    assert above.mean() < 1e-4


def test_descent_is_stretched_where_atoms_replace_each_other():
    """Plain coordinate descent takes thousands of sweeps for such signals."""
    X, atoms, radii = make(n_features=8, n_atoms=24, scale=60.0, radius=0.1, n_samples=16)
    plain = reference.gauss_l1(X, atoms, radii, tol=1e-6, max_sweeps=2000)
    slow = np.flatnonzero(plain.n_sweeps > 100)
    assert len(slow) >= 3
    sweeps, above = [], []
    for row in slow:
        support, x, members = np.full(16, -1, np.int32), np.zeros(16), np.zeros((16, 8))
        n_sweeps, value = descend(
            atoms, radii**2, 0.5, 2000, 1e-6, np.zeros(1, np.int64), 0, X[row] @ X[row],
            support, x, members, X[row].copy(), allocate_past(16, 8),
        )  # fmt: skip
        sweeps.append(n_sweeps)
        above.append(value / plain.objective[row] - 1)
    assert sum(sweeps) < 0.5 * plain.n_sweeps[slow].sum()
    # of several local minima now and then another one
    assert np.median(above) < 1e-4


@pytest.mark.parametrize("scale", [60.0, 300.0, 2000.0, 1e6])
def test_far_rows_take_few_steps_and_end_no_higher_than_by_descent(scale):
    X, atoms, radii = make(n_features=8, n_atoms=24, scale=scale, radius=0.1, n_samples=40)
    codes = gauss_l1(X, atoms, radii, tol=1e-7)
    plain = reference.gauss_l1(X, atoms, radii, tol=1e-7, max_sweeps=500)
    # of many local minima, now and then descent finds a lower one
    assert (codes.objective > 1.001 * plain.objective).mean() <= 0.1
    assert codes.objective.mean() <= plain.objective.mean()
    assert codes.n_sweeps.max() <= 100
    assert Counter(solvers(X, atoms, radii, tol=1e-7))["descent"] == 0


@pytest.mark.parametrize("scale", [3.0, 20.0, 60.0, 300.0, 2000.0])
def test_newton_ends_where_nothing_can_be_gained(scale):
    """At its codes the equations hold, and no atom at rest exceeds its bound."""
    X, atoms, radii = make(n_features=8, n_atoms=24, scale=scale, n_samples=16)
    halt, n_refined = np.zeros(1, np.int64), 0
    for y in X:
        support, x, members = np.full(16, -1, np.int32), np.zeros(16), np.zeros((16, 8))
        residual = y.copy()
        refined, _, value = refine(
            atoms, radii**2, 0.5, 1000, 1e-12, halt, 0, support, x, y, members, residual,
            allocate_refinement(16, 8, 24),
        )  # fmt: skip
        n_refined += refined
        if not refined:
            continue
        used = support[support >= 0]
        x, members = x[: len(used)], members[: len(used)]
        scale_of = np.linalg.norm(y)
        np.testing.assert_allclose(residual, y - x @ members, atol=1e-12 * scale_of)
        np.testing.assert_allclose(np.linalg.norm(members, axis=1), 1.0, rtol=1e-12)
        # steps promise a share of 1e-13 of the objective: slopes are its root
        np.testing.assert_allclose(members @ residual, 0.5 * np.sign(x), atol=1e-4)
        leaning = normalize(atoms[used] + (radii[used] ** 2 * x)[:, None] * residual)
        np.testing.assert_allclose(members, leaning, atol=1e-4)
        at_rest = np.setdiff1d(np.arange(len(atoms)), used)
        assert np.abs(atoms[at_rest] @ residual).max() <= 0.5 + 1e-4 * scale_of
        distance = np.sum((members - atoms[used]) ** 2, axis=1) / radii[used] ** 2
        assert value == pytest.approx(
            residual @ residual + distance.sum() + np.abs(x).sum(), rel=1e-10
        )
    assert n_refined >= 14


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_code_that_no_unit_atoms_can_have_is_worse_than_any(dtype):
    group = allocate_group(1, dtype)
    places, signals = group.places[:, 0], group.signals
    # the second signal would have its atom lean by beta ||r|| = 2, at a right angle
    places[SPREAD], places[LIFT], places[Z, :2] = 1.0, 1.0, (0.5, 2.0)
    signals[INVERSE], signals[LEFT] = 1.0, 1.0
    evaluate(1, 0.5, group)
    square = 2.0 - 2.0 * np.sqrt(1.0 - 0.5**2)
    assert signals[VALUE, 0] == pytest.approx(1.0 + square + 0.5, rel=1e-6)
    assert signals[VALUE, 1] > 1e29
