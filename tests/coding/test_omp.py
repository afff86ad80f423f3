"""OMP, compiled and reference, against scikit-learn and against what defines it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import orthogonal_mp
from sklearn.preprocessing import normalize

from setatoms import omp
from setatoms.coding import reference
from setatoms.coding.omp import coder

both = pytest.mark.parametrize("coder", [omp, reference.omp], ids=["compiled", "reference"])

# Rounding of a least-squares fit on a handful of random, hence well-conditioned, atoms.
ROUNDING = 1e-10


def random_problem(n_samples=60, n_features=13, n_atoms=39, seed=0):
    rng = np.random.default_rng(seed)
    atoms = normalize(rng.standard_normal((n_atoms, n_features)))
    return 3 * rng.standard_normal((n_samples, n_features)), atoms


@both
@pytest.mark.parametrize("n_nonzero", [1, 2, 3, 7])
def test_omp_equals_scikit_learn(coder, n_nonzero):
    X, atoms = random_problem()
    expected = orthogonal_mp(atoms.T, X.T, n_nonzero_coefs=n_nonzero).T
    codes = coder(X, atoms, n_nonzero=n_nonzero)
    np.testing.assert_allclose(codes.coefficients.toarray(), expected, atol=ROUNDING)
    np.testing.assert_allclose(codes.residuals, X - expected @ atoms, atol=ROUNDING)


@both
def test_residual_is_orthogonal_to_the_atoms_used(coder):
    X, atoms = random_problem()
    codes = coder(X, atoms, n_nonzero=4)
    products = np.einsum("nki,ni->nk", atoms[codes.support], codes.residuals)
    np.testing.assert_allclose(products, 0, atol=ROUNDING)


@both
def test_one_more_atom_extends_the_support_and_lowers_the_error(coder):
    X, atoms = random_problem()
    shorter, longer = (coder(X, atoms, n_nonzero=s) for s in (3, 4))
    np.testing.assert_array_equal(longer.support[:, :3], shorter.support)
    assert (longer.errors < shorter.errors).all()


@both
def test_orthonormal_atoms_are_chosen_by_the_size_of_their_coefficient(coder):
    codes = coder([[1.0, -4.0, 3.0, 2.0]], np.eye(4), n_nonzero=3)
    np.testing.assert_array_equal(codes.support, [[1, 2, 3]])
    np.testing.assert_array_equal(codes.values, [[-4.0, 3.0, 2.0]])


@both
def test_ties_go_to_the_lowest_index(coder):
    codes = coder([[0.0, 1.0, -1.0, 1.0]], np.eye(4), n_nonzero=2)
    np.testing.assert_array_equal(codes.support, [[1, 2]])


@both
def test_a_multiple_of_an_atom_uses_that_atom_alone(coder):
    _, atoms = random_problem()
    codes = coder(-5 * atoms, atoms, n_nonzero=3)
    np.testing.assert_array_equal(codes.support[:, 0], np.arange(len(atoms)))
    assert (codes.support[:, 1:] == -1).all()
    np.testing.assert_allclose(codes.values[:, 0], -5)
    np.testing.assert_allclose(codes.errors, 0, atol=ROUNDING)


@both
@pytest.mark.parametrize("apart", [1e-2, 1e-4, 1e-6])
def test_nearly_equal_atoms_are_fitted_as_well_as_least_squares_can(coder, apart):
    rng = np.random.default_rng(0)
    first, across = np.linalg.qr(rng.standard_normal((6, 2)))[0].T
    atoms = np.array([first, np.cos(apart) * first + np.sin(apart) * across])
    X = rng.standard_normal((50, 6))
    codes = coder(X, atoms, n_nonzero=2)
    for y, used, error in zip(X, codes.support, codes.errors, strict=True):
        chosen = atoms[used[used >= 0]]
        best = np.linalg.norm(y - chosen.T @ np.linalg.lstsq(chosen.T, y, rcond=None)[0])
        assert error == pytest.approx(best, rel=1e-9)
    if apart > 1e-5:
        assert (codes.support >= 0).all()


@both
def test_signals_orthogonal_to_all_atoms_have_an_empty_code(coder):
    codes = coder([[0.0, 0.0, 2.0]], np.eye(3)[:2], n_nonzero=2)
    np.testing.assert_array_equal(codes.support, [[-1, -1]])
    np.testing.assert_array_equal(codes.errors, [2.0])


@both
def test_as_many_atoms_as_features_represent_everything(coder):
    X, atoms = random_problem(n_features=6, n_atoms=18)
    codes = coder(X, atoms, n_nonzero=18)
    # the last atoms in may be nearly dependent: their condition number multiplies the rounding
    np.testing.assert_allclose(codes.errors, 0, atol=1e-8)


@pytest.mark.parametrize(
    ("n_features", "n_atoms", "n_nonzero"),
    [
        (1, 1, 1),
        (1, 3, 1),
        (2, 5, 2),
        (7, 3, 3),
        (27, 81, 2),
        (27, 81, 5),
        (64, 256, 1),
        (64, 256, 5),
        (64, 256, 16),
        (64, 256, 17),
        (100, 9, 4),
    ],
)
def test_compiled_equals_reference(n_features, n_atoms, n_nonzero):
    X, atoms = random_problem(70, n_features, n_atoms)
    compiled = omp(X, atoms, n_nonzero=n_nonzero, actual_atoms=True)
    expected = reference.omp(X, atoms, n_nonzero=n_nonzero, actual_atoms=True)
    np.testing.assert_array_equal(compiled.support, expected.support)
    np.testing.assert_array_equal(compiled.actual_atoms, expected.actual_atoms)
    for name in ("values", "residuals", "errors"):
        np.testing.assert_allclose(
            getattr(compiled, name), getattr(expected, name), atol=ROUNDING, err_msg=name
        )


@pytest.mark.parametrize("n_nonzero", [1, 2, 3, 6])
def test_atoms_chosen_in_single_precision_are_those_of_double_precision(monkeypatch, n_nonzero):
    """Also of equal and nearly equal atoms, and of signals beyond single precision."""
    rng = np.random.default_rng(0)
    atoms = normalize(rng.standard_normal((130, 40)))
    atoms[-1], atoms[-2] = atoms[0], -atoms[1]
    atoms[5] = normalize([atoms[4] + 1e-7 * rng.standard_normal(40)])[0]
    X = rng.standard_normal((700, 40))
    X[:50] = 3 * atoms[rng.integers(0, 130, 50)]
    X[50:100] = 2 * atoms[rng.integers(0, 130, 50)] - atoms[rng.integers(0, 130, 50)]
    X[100:150] = np.round(2 * X[100:150])
    for start, scale in enumerate([0.0, 1e40, 1e-40, 1e200, 1e-300, 1e15, 1e-15]):
        X[150 + 10 * start : 160 + 10 * start] *= scale
    found = []
    for least in (0, np.inf):
        monkeypatch.setattr(coder, "_LARGE", least)
        found.append(omp(X, atoms, n_nonzero=n_nonzero))
    np.testing.assert_array_equal(found[0].support, found[1].support)
    for name in ("values", "residuals", "errors"):
        one, other = (getattr(codes, name) for codes in found)
        if n_nonzero == 2:
            np.testing.assert_array_equal(one, other)
        else:
            # products of signals with the atoms chosen are added up in another order
            sizes = np.abs(X).max(axis=1).reshape(-1, *[1] * (one.ndim - 1))
            assert (abs(one - other) <= 1e-12 * sizes).all()


def test_signals_that_few_atoms_represent_or_nearly_equal_ones_are_coded_among_others():
    """They leave their block and go on alone, and no other signal's code depends on that."""
    X, atoms = random_problem(n_samples=40)
    rng = np.random.default_rng(1)
    atoms[1] = normalize([atoms[0] + 1e-5 * rng.standard_normal(13)])[0]
    X[3], X[8], X[11] = 0.0, 2 * atoms[7], atoms[4] - 3 * atoms[9]
    X[20:30] = 5 * atoms[0] + 4 * (atoms[1] - atoms[0]) * 1e5
    codes, expected = omp(X, atoms, n_nonzero=4), reference.omp(X, atoms, n_nonzero=4)
    np.testing.assert_array_equal(codes.support, expected.support)
    np.testing.assert_array_equal((codes.support >= 0).sum(axis=1)[[3, 8, 11]], [0, 1, 2])
    np.testing.assert_allclose(codes.errors, expected.errors, atol=1e-8)
    kept = np.r_[0:3, 4:8, 9, 12:20]
    alone = omp(X[kept], atoms, n_nonzero=4)
    np.testing.assert_array_equal(alone.values, codes.values[kept])


def test_dictionaries_that_share_work_space_do_not_disturb_each_other():
    """Their atoms fill the same number of vectors; the second one has fewer."""
    rng = np.random.default_rng(0)
    X, atoms = rng.standard_normal((30, 40)), normalize(rng.standard_normal((208, 40)))
    alone = omp(X[:9], atoms[:201], n_nonzero=2)
    omp(X, atoms, n_nonzero=2)
    np.testing.assert_array_equal(omp(X[:9], atoms[:201], n_nonzero=2).values, alone.values)
