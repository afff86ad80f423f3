"""Cone-OMP, compiled and reference, against its authors' program and against what defines it.

The oracle's files hold inputs and outputs of the authors' own program. Those under
``tests/fixtures`` are the same seven cases with the first twelve signals of each.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from setatoms import cone_omp, omp
from setatoms.coding import reference

both = pytest.mark.parametrize(
    "coder", [cone_omp, reference.cone_omp], ids=["compiled", "reference"]
)

CASES = [f"case{i}.npz" for i in range(7)]
FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "cone_omp"

# Rounding of a least-squares fit on a handful of well-conditioned actual atoms.
ROUNDING = 1e-10


def random_problem(n_samples=60, n_features=13, n_atoms=39, radii=(0.04, 0.3), seed=0):
    """Return signals, of which every other one is close to an atom, and cones of many sizes."""
    rng = np.random.default_rng(seed)
    atoms = normalize(rng.standard_normal((n_atoms, n_features)))
    X = 3 * rng.standard_normal((n_samples, n_features))
    X[::2] = 5 * atoms[rng.integers(n_atoms, size=len(X[::2]))] + 0.05 * X[::2]
    return X, atoms, rng.uniform(*radii, n_atoms)


def assert_equals_oracle(coder, path):
    with np.load(path, allow_pickle=False) as case:
        codes = coder(
            case["signals"],
            case["atoms"],
            case["radii"],
            n_nonzero=int(case["n_nonzero"]),
            cd_sweeps=int(case["cd_sweeps"]),
            actual_atoms=True,
        )
        np.testing.assert_array_equal(codes.support, case["support"])
        # Two programs that agree in every choice differ by rounding alone: the bound of the issue.
        np.testing.assert_allclose(codes.errors, case["error"], rtol=0, atol=1e-9)
        np.testing.assert_allclose(codes.values, case["coefficients"], rtol=0, atol=1e-9)
        np.testing.assert_allclose(codes.actual_atoms, case["actual_atoms"], rtol=0, atol=1e-9)


@both
@pytest.mark.parametrize("case", CASES)
def test_cone_omp_equals_the_authors_program(coder, case, shared):
    assert_equals_oracle(coder, shared / "reference" / "cone_omp" / case)


@both
@pytest.mark.parametrize("case", CASES)
def test_cone_omp_equals_the_authors_program_on_fixtures(coder, case):
    assert_equals_oracle(coder, FIXTURES / case)


@both
@pytest.mark.parametrize("cd_sweeps", [0, 1, 3])
def test_cone_omp_with_zero_radii_is_omp(coder, cd_sweeps):
    X, atoms, radii = random_problem()
    codes = coder(X, atoms, 0 * radii, n_nonzero=4, cd_sweeps=cd_sweeps)
    expected = omp(X, atoms, n_nonzero=4)
    np.testing.assert_array_equal(codes.support, expected.support)
    np.testing.assert_allclose(codes.values, expected.values, atol=ROUNDING)
    np.testing.assert_allclose(codes.errors, expected.errors, atol=ROUNDING)


@both
def test_one_cone_leaves_the_sine_of_the_angle_to_the_nearest(coder):
    X, atoms, radii = random_problem()
    norms = np.linalg.norm(X, axis=1)
    angles = np.arccos(np.minimum(np.abs(X @ atoms.T) / norms[:, None], 1))
    outside = np.maximum(angles - 2 * np.arcsin(radii / 2), 0).min(axis=1)
    codes = coder(X, atoms, radii, n_nonzero=1)
    assert 0 < (outside == 0).sum() < len(X), "the problem should hold both kinds of signals"
    # arccos loses half the digits next to 1
    np.testing.assert_allclose(codes.errors, norms * np.sin(outside), atol=1e-7)


@both
def test_a_signal_inside_a_cone_is_its_own_actual_atom(coder):
    X = np.array([[3.0, 0.1, 0.0], [-3.0, 0.0, 0.1], [0.05, 0.0, -2.0]])
    codes = coder(X, np.eye(3), [0.1, 0.2, 0.1], n_nonzero=2, actual_atoms=True)
    np.testing.assert_array_equal(codes.support, [[0, -1], [0, -1], [2, -1]])
    np.testing.assert_allclose(codes.values[:, 0], np.sign([3, -3, -2]) * np.linalg.norm(X, axis=1))
    np.testing.assert_allclose(codes.actual_atoms[:, 0], X / codes.values[:, :1])
    np.testing.assert_allclose(codes.errors, 0, atol=ROUNDING)


@both
def test_a_cone_that_contains_the_signal_beats_a_nearer_centre(coder):
    wide, narrow = [1.0, 0.0], [np.cos(0.3), np.sin(0.3)]
    signal = [[np.cos(0.2), np.sin(0.2)]]
    codes = coder(signal, [narrow, wide], [0.05, 0.25], n_nonzero=1)
    np.testing.assert_array_equal(codes.support, [[1]])


@both
def test_of_several_cones_around_the_signal_the_most_central_is_taken(coder):
    centres = [[1.0, 0.0], [np.cos(0.3), np.sin(0.3)]]
    signal = [[np.cos(0.2), np.sin(0.2)]]
    codes = coder(signal, centres, [0.9, 0.5], n_nonzero=1)
    np.testing.assert_array_equal(codes.support, [[1]])


@both
def test_ties_go_to_the_lowest_index(coder):
    codes = coder([[0.0, 1.0, -1.0, 1.0]], np.eye(4), np.full(4, 0.1), n_nonzero=2)
    np.testing.assert_array_equal(codes.support, [[1, 2]])


@both
@pytest.mark.parametrize("cd_sweeps", [0, 1, 3])
def test_actual_atoms_are_unit_vectors_of_their_cones(coder, cd_sweeps):
    X, atoms, radii = random_problem()
    codes = coder(X, atoms, radii, n_nonzero=3, cd_sweeps=cd_sweeps, actual_atoms=True)
    used = codes.support >= 0
    members, owners = codes.actual_atoms[used], codes.support[used]
    np.testing.assert_allclose(np.linalg.norm(members, axis=1), 1, atol=ROUNDING)
    # a chord of 0.04 is a cosine of 1 - 0.0008, so rounding of the cosine grows 25 times
    assert (np.linalg.norm(members - atoms[owners], axis=1) <= radii[owners] + 1e-9).all()


@both
def test_without_descent_the_residual_is_orthogonal_to_the_actual_atoms(coder):
    X, atoms, radii = random_problem()
    codes = coder(X, atoms, radii, n_nonzero=3, cd_sweeps=0, actual_atoms=True)
    products = np.einsum("nki,ni->nk", codes.actual_atoms, codes.residuals)
    np.testing.assert_allclose(products, 0, atol=ROUNDING)


@both
def test_every_sweep_of_descent_lowers_the_error(coder):
    X, atoms, radii = random_problem()
    errors = [coder(X, atoms, radii, cd_sweeps=sweeps).errors for sweeps in range(5)]
    # With two atoms all descent comes after the last selection, so no choice differs.
    assert (np.diff(errors, axis=0) <= ROUNDING).all()
    assert errors[1].mean() < errors[0].mean()


@both
def test_wider_cones_leave_no_more_to_one_atom(coder):
    X, atoms, radii = random_problem()
    errors = [coder(X, atoms, factor * radii, n_nonzero=1).errors for factor in (0, 0.5, 1, 2)]
    assert (np.diff(errors, axis=0) <= ROUNDING).all()


@both
def test_the_sign_of_an_atom_does_not_matter(coder):
    X, atoms, radii = random_problem()
    signs = np.where(np.arange(len(atoms)) % 2, 1.0, -1.0)
    codes, flipped = coder(X, atoms, radii), coder(X, signs[:, None] * atoms, radii)
    np.testing.assert_array_equal(flipped.support, codes.support)
    np.testing.assert_allclose(flipped.values, signs[codes.support] * codes.values, atol=ROUNDING)
    np.testing.assert_allclose(flipped.errors, codes.errors, atol=ROUNDING)


@pytest.mark.parametrize("radii", [(0.0, 1e-6), (0.04, 0.12), (0.2, 0.9), (1.2, 1.41)])
@pytest.mark.parametrize(
    ("n_features", "n_atoms", "n_nonzero"),
    [(1, 1, 1), (2, 5, 1), (7, 3, 3), (27, 81, 2), (64, 256, 4), (100, 9, 4)],
)
def test_compiled_equals_reference(n_features, n_atoms, n_nonzero, radii):
    X, atoms, radii = random_problem(70, n_features, n_atoms, radii)
    options = {"n_nonzero": n_nonzero, "cd_sweeps": 2, "actual_atoms": True}
    compiled = cone_omp(X, atoms, radii, **options)
    expected = reference.cone_omp(X, atoms, radii, **options)
    np.testing.assert_array_equal(compiled.support, expected.support)
    for name in ("values", "residuals", "errors", "actual_atoms"):
        # an actual atom next to the rim of a narrow cone loses digits in proportion to its radius
        np.testing.assert_allclose(
            getattr(compiled, name), getattr(expected, name), atol=1e-8, err_msg=name
        )
