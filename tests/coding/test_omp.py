"""OMP, compiled and reference, against scikit-learn and against what defines it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import orthogonal_mp
from sklearn.preprocessing import normalize

from setatoms import omp
from setatoms.coding import reference
from setatoms.coding.batch import allocate
from setatoms.coding.chunks import Chunks
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
@pytest.mark.parametrize("n_nonzero", [2, 3])
def test_nearly_equal_atoms_are_fitted_as_well_as_least_squares_can(coder, apart, n_nonzero):
    rng = np.random.default_rng(0)
    first, across, third = np.linalg.qr(rng.standard_normal((6, 3)))[0].T
    atoms = np.array([first, np.cos(apart) * first + np.sin(apart) * across, third])[:n_nonzero]
    X = rng.standard_normal((50, 6))
    codes = coder(X, atoms, n_nonzero=n_nonzero)
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


in_both_precisions = pytest.mark.parametrize("least", [0, np.inf], ids=["single", "double"])


@in_both_precisions
@pytest.mark.parametrize("n_nonzero", [1, 2, 3, 6, 16, 17])
def test_atoms_chosen_in_single_precision_are_those_of_the_reference(monkeypatch, n_nonzero, least):
    """Also of equal and nearly equal atoms, and of signals beyond single precision."""
    monkeypatch.setattr(coder, "_LARGE", least)
    rng = np.random.default_rng(0)
    atoms = normalize(rng.standard_normal((130, 40)))
    atoms[-1], atoms[-2] = atoms[0], -atoms[1]
    atoms[5] = normalize([atoms[4] + 1e-7 * rng.standard_normal(40)])[0]
    X = rng.standard_normal((300, 40))
    X[:50] = 3 * atoms[rng.integers(6, 130, 50)]
    X[50:100] = 2 * atoms[rng.integers(6, 60, 50)] - atoms[rng.integers(60, 128, 50)]
    X[100:150] = np.round(2 * X[100:150])
    for start, scale in enumerate([0.0, 1e40, 1e-40, 1e200, 1e-300, 1e15, 1e-15]):
        X[150 + 10 * start : 160 + 10 * start] *= scale
    codes = omp(X, atoms, n_nonzero=n_nonzero)
    expected = reference.omp(X, atoms, n_nonzero=n_nonzero)
    # which of two equal atoms it is hangs on the last bit
    found, wanted = (
        np.select([used == 129, used == 128], [0, 1], used)
        for used in (codes.support, expected.support)
    )
    np.testing.assert_array_equal(found, wanted)
    sizes = np.abs(X).max(axis=1) + np.finfo(float).tiny
    assert (np.abs(codes.errors - expected.errors) <= 1e-11 * sizes).all()
    assert (np.abs(codes.residuals - expected.residuals) <= 1e-11 * sizes[:, None]).all()


def test_pairs_chosen_in_single_precision_have_the_same_bits(monkeypatch):
    X, atoms = random_problem(700, 40, 130)
    found = []
    for least in (0, np.inf):
        monkeypatch.setattr(coder, "_LARGE", least)
        found.append(omp(X, atoms, n_nonzero=2))
    for name in ("support", "values", "residuals", "errors"):
        np.testing.assert_array_equal(*(getattr(codes, name) for codes in found))


@in_both_precisions
@pytest.mark.parametrize("n_nonzero", [9, 16])
def test_neighbouring_atoms_are_chosen_and_fitted(monkeypatch, least, n_nonzero):
    """Bumps along a line overlap, so coefficients are far larger than their signals."""
    monkeypatch.setattr(coder, "_LARGE", least)
    place = np.linspace(0, 1, 60)
    atoms = normalize(np.exp(-(((place - np.linspace(0, 1, 90)[:, None]) / 0.04) ** 2)))
    X = np.random.default_rng(0).standard_normal((100, 60))
    codes = omp(X, atoms, n_nonzero=n_nonzero)
    expected = reference.omp(X, atoms, n_nonzero=n_nonzero)
    assert np.abs(expected.values).sum(axis=1).max() > 2 * np.linalg.norm(X, axis=1).max()
    np.testing.assert_array_equal(codes.support, expected.support)
    np.testing.assert_allclose(codes.residuals, expected.residuals, atol=1e-9)


@in_both_precisions
@pytest.mark.parametrize("n_nonzero", [1, 2, 4])
def test_atoms_may_be_nearly_of_unit_norm(monkeypatch, least, n_nonzero):
    monkeypatch.setattr(coder, "_LARGE", least)
    X, atoms = random_problem()
    X[5], X[6] = 0.0, 3 * atoms[4]
    atoms *= 1 + np.random.default_rng(1).uniform(-9e-6, 9e-6, (len(atoms), 1))
    codes = omp(X, atoms, n_nonzero=n_nonzero)
    expected = reference.omp(X, atoms, n_nonzero=n_nonzero)
    np.testing.assert_array_equal(codes.support[:, 0], expected.support[:, 0])
    np.testing.assert_array_equal(codes.support[5], -1)
    # pairs take atoms for units: what that costs is of the order of how far off they are
    np.testing.assert_allclose(codes.errors, expected.errors, atol=1e-4)


@in_both_precisions
@pytest.mark.parametrize("n_nonzero", [1, 2, 3])
def test_no_atom_is_used_twice(monkeypatch, least, n_nonzero):
    """Atoms in single precision are units to 1e-7."""
    monkeypatch.setattr(coder, "_LARGE", least)
    _, atoms = random_problem()
    single = atoms.astype(np.float32)
    codes = omp(np.vstack([0 * single, 3 * single]), single, n_nonzero=n_nonzero)
    assert (codes.support[: len(atoms)] == -1).all()
    for used in codes.support[len(atoms) :]:
        assert len(np.unique(used[used >= 0])) == np.sum(used >= 0)


@in_both_precisions
def test_signals_that_few_atoms_represent_are_coded_among_others(monkeypatch, least):
    """They leave their block and go on alone, and no other signal's code depends on that."""
    monkeypatch.setattr(coder, "_LARGE", least)
    X, atoms = random_problem(n_samples=40)
    X[3], X[8], X[11] = 0.0, 2 * atoms[7], atoms[4] - 3 * atoms[9]
    made = coder.OmpCoder(atoms, 4)
    out = allocate(made, X)
    made.code_chunks(X, out, Chunks(np.zeros(1, np.int64), len(X), 1, np.empty(0), len(X)))
    alone = np.flatnonzero(~(made.spaces.get(0).steps.spare[: len(X)] > 0.0))
    assert set(alone) == {3, 8, 11}
    expected = reference.omp(X, atoms, n_nonzero=4)
    np.testing.assert_array_equal(out.support, expected.support)
    np.testing.assert_array_equal((out.support >= 0).sum(axis=1)[[3, 8, 11]], [0, 1, 2])
    np.testing.assert_allclose(out.errors, expected.errors, atol=1e-8)
    kept = np.setdiff1d(np.arange(40), alone)
    without = omp(X[kept], atoms, n_nonzero=4)
    np.testing.assert_array_equal(without.support, out.support[kept])
    np.testing.assert_array_equal(without.values, out.values[kept])
    np.testing.assert_array_equal(without.errors, out.errors[kept])


def test_dictionaries_that_share_work_space_do_not_disturb_each_other():
    """Their atoms fill the same number of vectors; the second one has fewer."""
    rng = np.random.default_rng(0)
    X, atoms = rng.standard_normal((30, 40)), normalize(rng.standard_normal((208, 40)))
    alone = omp(X[:9], atoms[:201], n_nonzero=2)
    omp(X, atoms, n_nonzero=2)
    np.testing.assert_array_equal(omp(X[:9], atoms[:201], n_nonzero=2).values, alone.values)
