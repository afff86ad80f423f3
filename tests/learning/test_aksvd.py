"""AK-SVD against its definition."""

import sys

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from setatoms import aksvd, omp
from setatoms.learning.start import spread_atoms


def signals(n_samples=300, n_features=10, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_samples, 4)) @ rng.standard_normal(
        (4, n_features)
    ) + 0.1 * rng.standard_normal((n_samples, n_features))


def one_pass_by_definition(X, atoms, n_nonzero):
    """One iteration, atom by atom, in plain NumPy."""
    codes = omp(X, atoms, n_nonzero=n_nonzero)
    atoms, x = atoms.copy(), codes.coefficients.toarray()
    worst_first = np.argsort(-codes.errors, kind="stable")
    n_replaced = 0
    for j in range(len(atoms)):
        users = np.flatnonzero(x[:, j])
        if len(users) == 0:
            signal = X[worst_first[n_replaced]]
            atoms[j] = signal / np.linalg.norm(signal)
            n_replaced += 1
            continue
        without = X[users] - x[users] @ atoms + np.outer(x[users, j], atoms[j])
        atoms[j] = without.T @ x[users, j]
        atoms[j] /= np.linalg.norm(atoms[j])
        x[users, j] = without @ atoms[j]
    return atoms


@pytest.mark.parametrize("n_nonzero", [1, 2, 3])
@pytest.mark.parametrize("n_atoms", [12, 100])
def test_an_iteration_is_the_definition(n_nonzero, n_atoms):
    # 100 atoms for 300 signals: some are unused and replaced
    X = signals()
    start = aksvd(X, n_atoms, n_iter=0, random_state=0)
    expected = one_pass_by_definition(X, start, n_nonzero)
    learned = aksvd(X, n_atoms, n_nonzero=n_nonzero, n_iter=1, init=start)
    # sums over users in another order
    np.testing.assert_allclose(learned, expected, atol=1e-10)


def test_atoms_are_unit_vectors_and_the_error_falls():
    X, errors = signals(), []
    atoms = aksvd(X, 30, random_state=0, on_iteration=lambda _, error: errors.append(error))
    np.testing.assert_allclose(np.linalg.norm(atoms, axis=1), 1, atol=1e-12)
    assert len(errors) == 50
    assert errors[-1] < 0.5 * errors[0]
    assert omp(X, atoms, n_nonzero=2).errors.mean() < 0.5 * errors[0]


def test_signals_and_start_are_not_modified():
    X = signals()
    start = np.random.default_rng(1).standard_normal((20, 10))
    X_before, start_before = X.copy(), start.copy()
    aksvd(X, 20, init=start, n_iter=3)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(start, start_before)


def test_the_same_seed_gives_the_same_atoms_for_any_number_of_threads():
    X = signals(n_samples=2000)
    one, two = (aksvd(X, 30, n_iter=5, random_state=3, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, aksvd(X, 30, n_iter=5, random_state=4))


def test_threads_may_share_the_users_of_an_atom(monkeypatch):
    X = np.random.default_rng(3).standard_normal((800, 7))
    alone = aksvd(X, 14, n_iter=5, random_state=0)
    monkeypatch.setattr(sys.modules["setatoms.learning.aksvd"], "_SHARED_USERS", 50)
    shared = [aksvd(X, 14, n_iter=5, random_state=0, n_jobs=n_jobs) for n_jobs in (1, 2)]
    np.testing.assert_array_equal(*shared)
    # sums in another order
    np.testing.assert_allclose(shared[0], alone, atol=1e-11)


def test_zero_signals_do_no_harm():
    X = np.vstack([np.zeros((30, 10)), signals(20)])
    assert np.isfinite(aksvd(X, 40, n_iter=3, random_state=0)).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_atoms": 0}, "n_atoms=0 must be at least 1"),
        ({"n_atoms": 3, "n_nonzero": 4}, "n_nonzero=4 exceeds the number of atoms"),
        ({"n_atoms": 3, "n_iter": -1}, "n_iter=-1 must be at least 0"),
        ({"n_atoms": 3, "init": np.eye(10)}, r"init has shape \(10, 10\)"),
        ({"n_atoms": 10, "init": np.diag([1.0] * 9 + [0.0])}, r"init\[9\] is zero"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        aksvd(signals(), **arguments)


def test_it_stops_when_nothing_moves():
    X, errors = np.repeat(np.eye(3), 5, axis=0), []
    atoms = aksvd(
        X, 3, init=np.eye(3), tol=1e-6, on_iteration=lambda _, error: errors.append(error)
    )
    np.testing.assert_array_equal(atoms, np.eye(3))
    assert len(errors) == 1


def test_spread_atoms_are_rows_that_differ_in_direction():
    rng = np.random.default_rng(0)
    lines = normalize(rng.normal(size=(5, 8)))
    X = rng.normal(size=(200, 1)) * lines[rng.integers(5, size=200)]
    atoms = spread_atoms(X, 5, np.random.default_rng(1))
    # one of each line, where random rows would have some twice
    assert sorted(np.abs(atoms @ lines.T).argmax(axis=1)) == [0, 1, 2, 3, 4]
    more = spread_atoms(X, 9, np.random.default_rng(1))
    np.testing.assert_allclose(np.linalg.norm(more, axis=1), 1)
    for tiny in (0.0, 1e-162, 1e-200):
        np.testing.assert_allclose(np.linalg.norm(spread_atoms(tiny * X, 3, rng), axis=1), 1)
