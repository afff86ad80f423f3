"""Missing entries: variables of the objective, found by coding and filling in turn."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from setatoms.learning import (
    ConeAtoms,
    FittedDictionary,
    FixedRadii,
    GaussianAtoms,
    VectorAtoms,
    aksvd,
    learn,
    random_atoms,
)
from setatoms.learning import missing as missing_module
from setatoms.learning.history import history_of_errors
from setatoms.learning.missing import GREEDY, fill_rows, row_norms

KINDS = [VectorAtoms(), ConeAtoms(), GaussianAtoms()]


def make_rows(n_samples=200, n_features=8, seed=0):
    """Return rows with three hidden causes, 0 where missing, and where that is (one to five)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 3)) @ rng.normal(size=(3, n_features))
    X += 0.2 * rng.normal(size=X.shape)
    ranks = rng.random(X.shape).argsort(axis=1).argsort(axis=1)
    missing = ranks < rng.integers(1, 6, size=(n_samples, 1))
    return np.where(missing, 0.0, X), missing


def make_atoms(kind, n_atoms=20, n_features=8):
    """Return a dictionary that the kind can use, with its radii."""
    atoms = random_atoms(n_atoms, n_features, np.random.default_rng(1))
    radii = np.full(n_atoms, 0.0 if isinstance(kind, VectorAtoms) else 0.08)
    return atoms, radii


def make_dictionary(kind, atoms, radii):
    """Return a dictionary that was not learned."""
    return FittedDictionary(kind, atoms, radii, history_of_errors([], len(atoms)))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_the_objective_never_rises(kind):
    X, missing = make_rows()
    coder = kind.coder(*make_atoms(kind))
    objectives = np.array(
        [fill_rows(coder, kind.gaps, X, missing, most_passes=k).objective for k in range(1, 25)]
    )
    assert (np.diff(objectives, axis=0) <= 0).all()
    assert objectives[-1].mean() < 0.95 * objectives[0].mean()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_rows_settle_where_codes_represent_them_and_keep_what_was_observed(kind):
    X, missing = make_rows()
    filled = make_dictionary(kind, *make_atoms(kind)).fill(X, missing)
    np.testing.assert_array_equal(filled.rows[~missing], X[~missing])
    np.testing.assert_array_equal(filled.values[~missing], X[~missing])
    np.testing.assert_array_equal(filled.residuals[missing], 0.0)
    codes = make_dictionary(kind, *make_atoms(kind)).code(filled.rows)
    np.testing.assert_array_equal(np.where(missing, 0.0, codes.residuals), filled.residuals)
    implied = ((filled.rows - codes.residuals) / (1 + kind.gaps.price))[missing]
    np.testing.assert_array_equal(filled.values[missing], implied)
    # greedy coders are no exact minimisers: their rows stop where no step helps any more
    moves = np.abs(filled.values - filled.rows).max(axis=1) / np.abs(filled.rows).max(axis=1)
    assert np.quantile(moves, 0.7) < 1e-2


def test_tiny_radii_give_the_lasso_of_the_observed_entries():
    X, missing = make_rows(40)
    atoms, radii = make_atoms(GaussianAtoms())
    kind = GaussianAtoms(lam=2.0, gamma=0.3)
    coder = kind.coder(atoms, radii * 1e-6)
    found = fill_rows(coder, kind.gaps, X, missing, most_passes=2000).objective
    for row, gaps, objective in zip(X, missing, found, strict=True):
        columns, y = atoms[:, ~gaps].T, row[~gaps]
        lasso = Lasso(alpha=0.3 / (4.0 * len(y)), fit_intercept=False, tol=1e-12, max_iter=100_000)
        x = lasso.fit(columns, y).coef_
        least = 2.0 * np.sum((y - columns @ x) ** 2) + 0.3 * np.abs(x).sum()
        # slow rows settle a little before the end
        assert least * (1 - 1e-9) <= objective <= least * (1 + 1e-3)


def test_vectors_give_the_ridge_solution_of_their_support():
    X, missing = make_rows()
    kind, (atoms, radii) = VectorAtoms(), make_atoms(VectorAtoms())
    filled = make_dictionary(kind, atoms, radii).fill(X, missing)
    codes = make_dictionary(kind, atoms, radii).code(filled.rows)
    settled = np.abs(filled.values - filled.rows).max(axis=1) < 1e-4
    weight = GREEDY.price / (1 + GREEDY.price)
    for i in np.flatnonzero(settled):
        columns = atoms[codes.support[i]].T * np.where(missing[i], np.sqrt(weight), 1.0)[:, None]
        x, *_ = np.linalg.lstsq(columns, X[i], rcond=None)
        least = np.sum((X[i] - columns @ x) ** 2)
        assert filled.objective[i] == pytest.approx(least, rel=1e-4, abs=1e-9)
    assert settled.mean() > 0.5


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_a_row_is_filled_alike_in_any_batch_and_on_any_threads(kind, monkeypatch):
    X, missing = make_rows(300)
    atoms = make_atoms(kind)
    whole = make_dictionary(kind, *atoms).fill(X, missing, n_jobs=1)
    monkeypatch.setattr(missing_module, "_CHUNK_ROWS", 64)
    for part in (
        make_dictionary(kind, *atoms).fill(X, missing, n_jobs=2),
        make_dictionary(kind, *atoms).fill(X, missing, n_jobs=1),
    ):
        np.testing.assert_array_equal(part.rows, whole.rows)
    alone = make_dictionary(kind, *atoms).fill(X[7:8], missing[7:8])
    np.testing.assert_allclose(alone.rows, whole.rows[7:8], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_rows_without_any_value_are_zero_and_huge_rows_stay_finite(kind):
    X, missing = make_rows(3)
    missing[0] = True
    X[0], X[1] = 0.0, np.where(missing[1], 0.0, 1e300)
    filled = make_dictionary(kind, *make_atoms(kind)).fill(X, missing)
    np.testing.assert_array_equal(filled.values[0], 0.0)
    assert np.isfinite(filled.values).all()
    assert np.isfinite(row_norms(filled.residuals)).all()


def test_aksvd_finds_the_direction_of_rows_with_gaps():
    rng = np.random.default_rng(0)
    direction = random_atoms(1, 8, rng)[0]
    X = rng.normal(size=(300, 1)) * direction
    missing = rng.random(X.shape) < 0.3
    rows = np.where(missing, 0.0, X)
    (atom,) = aksvd(rows, 1, n_nonzero=1, random_state=0, missing=missing)
    np.testing.assert_array_equal(rows[~missing], X[~missing])
    # the price of filled entries tilts it a little
    assert abs(atom @ direction) > 0.999
    assert np.linalg.norm(rows - X) < 0.25 * np.linalg.norm(X[missing])


@pytest.mark.parametrize("kind", [ConeAtoms(), GaussianAtoms()])
def test_learning_fills_gaps_and_nothing_else(kind):
    X, missing = make_rows()
    rows = X.copy()
    schedule = FixedRadii(np.full(20, 0.05))
    learned = learn(
        rows, make_atoms(kind)[0], kind, schedule, n_iter=15,
        rng=np.random.default_rng(0), missing=missing,
    )  # fmt: skip
    np.testing.assert_array_equal(rows[~missing], X[~missing])
    assert (rows[missing] != 0).mean() > 0.9
    objective = learned.dictionary.history.objective
    assert objective[-1] < 0.95 * objective[0]


def test_learning_gaussians_never_raises_the_objective():
    X, missing = make_rows()
    # precise codes: rough ones may end above those of the pass before
    kind = GaussianAtoms(fit_max_sweeps=1000, fit_tol=1e-9)
    learned = learn(
        X, make_atoms(kind)[0], kind, FixedRadii(np.full(20, 0.05)), n_iter=15,
        rng=np.random.default_rng(0), missing=missing,
    )  # fmt: skip
    objective = learned.dictionary.history.objective
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()


@pytest.mark.parametrize("kind", [ConeAtoms(), GaussianAtoms()])
def test_nothing_missing_changes_nothing(kind):
    X, missing = make_rows()
    schedule = FixedRadii(np.full(20, 0.05))
    models = [
        learn(
            X.copy(), make_atoms(kind)[0], kind, schedule, n_iter=5,
            rng=np.random.default_rng(0), missing=gaps,
        ).dictionary
        for gaps in (None, np.zeros_like(missing))
    ]  # fmt: skip
    np.testing.assert_array_equal(models[0].atoms, models[1].atoms)
