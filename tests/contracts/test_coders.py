"""What holds for every coder, run over all of them."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from setatoms import Codes, cone_omp, gauss_l1, omp
from setatoms.coding import reference

N_FEATURES, N_ATOMS = 9, 27
RNG = np.random.default_rng(0)
ATOMS = normalize(RNG.standard_normal((N_ATOMS, N_FEATURES)))
RADII = RNG.uniform(0.04, 0.12, N_ATOMS)
# Random signals, signals inside or next to one atom, and zeros; small and large.
SIGNALS = np.vstack(
    [
        2 * RNG.standard_normal((60, N_FEATURES)),
        3 * ATOMS + 0.1 * RNG.standard_normal(ATOMS.shape),
        -2 * ATOMS[:5],
        np.zeros((2, N_FEATURES)),
        0.01 * RNG.standard_normal((5, N_FEATURES)),
        1e4 * RNG.standard_normal((5, N_FEATURES)),
    ]
)

Coder = Callable[..., Codes]


def code_omp(X, atoms=ATOMS, radii=None, *, coder=omp, most=3, **options):
    """Call OMP with the arguments of the other two."""
    return coder(X, atoms, **{"n_nonzero": min(most, len(atoms)), **options})


def code_cones(X, atoms=ATOMS, radii=RADII, *, coder=cone_omp, most=3, **options):
    return coder(X, atoms, radii, **{"n_nonzero": min(most, len(atoms)), **options})


def code_gaussians(X, atoms=ATOMS, radii=RADII, *, coder=gauss_l1, **options):
    return coder(X, atoms, radii, **options)


# Two atoms per signal have kernels of their own.
COMPILED = {
    "omp": code_omp,
    "omp-single": partial(code_omp, most=1),
    "omp-pairs": partial(code_omp, most=2),
    "cone_omp": code_cones,
    "cone_omp-pairs": partial(code_cones, most=2),
    "gauss_l1": code_gaussians,
}
TWINS = {
    "omp-reference": partial(code_omp, coder=reference.omp),
    "cone_omp-reference": partial(code_cones, coder=reference.cone_omp),
    "gauss_l1-reference": partial(code_gaussians, coder=reference.gauss_l1),
}
MATCHING = {
    name: COMPILED[name]
    for name in ("omp", "omp-single", "omp-pairs", "cone_omp", "cone_omp-pairs")
}
SETS = {name: COMPILED[name] for name in ("cone_omp", "cone_omp-pairs", "gauss_l1")}


def over(coders: dict[str, Coder]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("code", coders.values(), ids=coders.keys())


def assert_same(codes: Codes, expected: Codes) -> None:
    """Assert that two results are equal bit for bit."""
    for name in ("support", "values", "residuals", "errors", "objective", "n_sweeps"):
        np.testing.assert_array_equal(getattr(codes, name), getattr(expected, name), err_msg=name)


def many_signals(n_samples: int) -> np.ndarray:
    """Return enough signals for several chunks of rows, so that threads share the work."""
    return 2 * np.random.default_rng(1).standard_normal((n_samples, N_FEATURES))


# Meaning of the result


@over(COMPILED | TWINS)
def test_shapes_and_types(code):
    codes = code(SIGNALS, actual_atoms=True)
    n_samples, width = codes.support.shape
    assert n_samples == len(SIGNALS)
    assert codes.support.dtype == np.int32
    assert codes.values.shape == (n_samples, width)
    assert codes.residuals.shape == SIGNALS.shape
    assert codes.errors.shape == (n_samples,)
    assert codes.actual_atoms.shape == (n_samples, width, N_FEATURES)
    assert codes.coefficients.shape == (n_samples, N_ATOMS)
    assert codes.n_atoms == N_ATOMS


@over(COMPILED | TWINS)
def test_actual_atoms_come_on_request_only(code):
    assert code(SIGNALS[:3]).actual_atoms is None


@over(COMPILED | TWINS)
def test_the_residual_is_the_signal_without_its_terms(code):
    codes = code(SIGNALS, actual_atoms=True)
    terms = np.einsum("nk,nki->ni", codes.values, codes.actual_atoms)
    norms = np.linalg.norm(SIGNALS, axis=1, keepdims=True)
    # 1e-12: a signal inside a cone is represented up to rounding, its residual set to zero
    assert (np.abs(SIGNALS - terms - codes.residuals) <= 1e-12 * norms).all()


@over(COMPILED | TWINS)
def test_errors_are_the_norms_of_the_residuals(code):
    codes = code(SIGNALS)
    np.testing.assert_allclose(codes.errors, np.linalg.norm(codes.residuals, axis=1), rtol=1e-14)


@over(COMPILED | TWINS)
def test_no_code_is_worse_than_none(code):
    norms = np.linalg.norm(SIGNALS, axis=1)
    assert (code(SIGNALS).errors <= norms * (1 + 1e-14)).all()


@over(COMPILED | TWINS)
def test_support_holds_distinct_atoms_then_padding(code):
    codes = code(SIGNALS, actual_atoms=True)
    used = codes.support >= 0
    assert (np.diff(used.astype(int), axis=1) <= 0).all(), "padding comes last"
    assert codes.support.max() < N_ATOMS
    assert (codes.support[~used] == -1).all()
    assert (codes.values[~used] == 0).all()
    assert (codes.actual_atoms[~used] == 0).all()
    for row in codes.support:
        chosen = row[row >= 0]
        assert len(set(chosen)) == len(chosen)


@over(COMPILED | TWINS)
def test_coefficients_are_the_values_of_the_support(code):
    codes = code(SIGNALS)
    expected = np.zeros((len(SIGNALS), N_ATOMS))
    rows, columns = np.nonzero(codes.support >= 0)
    expected[rows, codes.support[rows, columns]] = codes.values[rows, columns]
    np.testing.assert_array_equal(codes.coefficients.toarray(), expected)
    assert codes.coefficients.nnz == len(rows)
    assert codes.coefficients.has_sorted_indices


@over(COMPILED | TWINS)
def test_zero_signals_have_an_empty_code_and_no_error(code):
    codes = code(np.zeros((3, N_FEATURES)))
    assert (codes.support == -1).all()
    assert (codes.values == 0).all()
    np.testing.assert_array_equal(codes.errors, 0)
    np.testing.assert_array_equal(codes.residuals, 0)


@over(COMPILED | TWINS)
def test_a_negated_signal_has_the_negated_code(code):
    codes, negated = code(SIGNALS), code(-SIGNALS)
    np.testing.assert_array_equal(negated.support, codes.support)
    np.testing.assert_array_equal(negated.values, -codes.values)
    np.testing.assert_array_equal(negated.errors, codes.errors)


@over(COMPILED | TWINS)
def test_a_dictionary_of_one_atom_works(code):
    codes = code(SIGNALS, ATOMS[:1], RADII[:1])
    assert np.isin(codes.support, [-1, 0]).all()
    assert (codes.support[:60] == 0).any()
    assert np.isfinite(codes.errors).all()


@over(COMPILED | TWINS)
def test_duplicate_atoms_are_harmless(code):
    atoms, radii = np.vstack([ATOMS, ATOMS, -ATOMS]), np.tile(RADII, 3)
    codes = code(SIGNALS, atoms, radii, actual_atoms=True)
    terms = np.einsum("nk,nki->ni", codes.values, codes.actual_atoms)
    norms = np.linalg.norm(SIGNALS, axis=1)
    assert (np.linalg.norm(SIGNALS - terms - codes.residuals, axis=1) <= 1e-12 * norms).all()
    assert (codes.errors <= norms * (1 + 1e-14)).all()
    # equal terms of opposite sign would pass the tests above
    assert (np.abs(codes.values).sum(axis=1) <= 20 * norms).all()


def test_duplicate_atoms_change_nothing_for_vectors():
    alone, doubled = code_omp(SIGNALS), code_omp(SIGNALS, np.vstack([ATOMS, ATOMS, -ATOMS]))
    np.testing.assert_array_equal(doubled.support, alone.support)
    norms = np.linalg.norm(SIGNALS, axis=1)
    assert (np.abs(doubled.errors - alone.errors) <= 1e-12 * norms).all()


# Independence of everything but the signal


def assert_close(codes: Codes, expected: Codes, rows: np.ndarray) -> None:
    """Assert that results for the same signals agree to 1e-10 of each signal's norm."""
    allowed = 1e-10 * np.linalg.norm(rows, axis=1)
    assert (np.abs(codes.errors - expected.errors) <= allowed).all()
    assert (np.abs(codes.residuals - expected.residuals).max(axis=1) <= allowed).all()
    difference = np.abs((codes.coefficients - expected.coefficients).toarray())
    assert (difference.max(axis=1) <= allowed).all()


def take(codes: Codes, rows: slice) -> Codes:
    return Codes(
        codes.support[rows], codes.values[rows], codes.residuals[rows], codes.errors[rows], N_ATOMS
    )


@over(COMPILED)
def test_a_row_alone_has_the_code_it_has_in_a_batch(code):
    whole = code(SIGNALS)
    for i in range(0, len(SIGNALS), 3):
        row = slice(i, i + 1)
        assert_close(code(SIGNALS[row]), take(whole, row), SIGNALS[row])


@over(COMPILED)
def test_the_order_of_the_batch_does_not_matter(code):
    backwards = slice(None, None, -1)
    assert_close(code(SIGNALS[backwards]), take(code(SIGNALS), backwards), SIGNALS[backwards])


@over(COMPILED)
@pytest.mark.parametrize("at", [1, 17, 63, 65])
def test_splitting_the_batch_does_not_matter(code, at):
    whole = code(SIGNALS)
    for rows in (slice(at), slice(at, None)):
        assert_close(code(SIGNALS[rows]), take(whole, rows), SIGNALS[rows])


@over(COMPILED)
def test_the_neighbours_of_a_row_do_not_matter(code):
    extreme = np.where(np.arange(len(SIGNALS))[:, None] % 2, 1e300, 1e-300) * np.ones(N_FEATURES)
    mixed = np.stack([SIGNALS, extreme], axis=1).reshape(-1, N_FEATURES)
    assert_close(take(code(mixed), slice(None, None, 2)), code(SIGNALS), SIGNALS)


@over(COMPILED)
def test_one_job_and_two_give_the_same_bits(code):
    X = many_signals(1500)
    one = code(X, n_jobs=1)
    assert_same(code(X, n_jobs=2), one)
    assert_same(code(X, n_jobs=-1), one)


@over(COMPILED)
def test_calling_twice_gives_the_same_bits(code):
    assert_same(code(SIGNALS), code(SIGNALS))


@over(COMPILED)
def test_several_threads_may_code_at_once(code):
    batches = np.array_split(many_signals(6000), 8)
    expected = [code(batch, n_jobs=1) for batch in batches]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(partial(code, n_jobs=2), batches))
    for result, serial in zip(results, expected, strict=True):
        assert_same(result, serial)


@over(COMPILED)
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_a_forked_process_codes_as_its_parent(code):
    X = many_signals(1500)
    expected = code(X, n_jobs=2)  # the parent's threads exist when it forks
    with multiprocessing.get_context("fork").Pool(1) as pool:
        # a deadlock in the child would otherwise hang the tests
        forked = pool.apply_async(code, (X,), {"n_jobs": 2}).get(timeout=120)
    assert_same(forked, expected)


# Extreme signals


@over(MATCHING | {name: TWINS[name] for name in ("omp-reference", "cone_omp-reference")})
@pytest.mark.parametrize("scale", [2.0**-990, 2.0**-500, 2.0**500, 2.0**990])
def test_the_code_of_a_scaled_signal_is_the_scaled_code(code, scale):
    codes, scaled = code(SIGNALS[:60]), code(scale * SIGNALS[:60])
    np.testing.assert_array_equal(scaled.support, codes.support)
    np.testing.assert_allclose(scaled.values / scale, codes.values, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(scaled.errors / scale, codes.errors, rtol=1e-10, atol=1e-10)


@over(COMPILED | TWINS)
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e150, 1e300])
def test_huge_and_tiny_signals_have_finite_codes(code, scale):
    X = scale * SIGNALS[:60]
    codes = code(X, actual_atoms=True)
    for name in ("values", "residuals", "errors", "actual_atoms"):
        assert np.isfinite(getattr(codes, name)).all(), name
    norms = scale * np.linalg.norm(SIGNALS[:60], axis=1)
    assert (codes.errors <= norms * (1 + 1e-10)).all()
    terms = np.einsum("nk,nki->ni", codes.values / scale, codes.actual_atoms)
    left = SIGNALS[:60] - terms - codes.residuals / scale
    assert (np.abs(left).max(axis=1) <= 1e-10 * np.linalg.norm(SIGNALS[:60], axis=1)).all()


@over(COMPILED | TWINS)
def test_a_subnormal_signal_has_a_finite_code(code):
    X = np.full((1, N_FEATURES), 5e-324)
    codes = code(X)
    assert np.isfinite(codes.values).all()
    assert 0 <= codes.errors[0] <= 1e-320


def test_gauss_l1_leaves_tiny_signals_and_follows_huge_ones():
    tiny, huge = code_gaussians(1e-300 * SIGNALS[:60]), code_gaussians(1e300 * SIGNALS[:60])
    assert tiny.coefficients.nnz == 0
    # at this size the price of leaning is nothing, so only rounding is left
    assert (huge.errors <= 1e-10 * 1e300 * np.linalg.norm(SIGNALS[:60], axis=1)).all()
    assert not np.isnan(huge.objective).any()


# Types and layouts


@over(COMPILED)
def test_float32_in_float32_out_with_errors_within_1e_4(code):
    X = SIGNALS[:90].astype(np.float32)  # of norms up to about 10
    atoms = ATOMS.astype(np.float32)
    single = code(X, atoms, actual_atoms=True)
    double = code(X.astype(np.float64), atoms.astype(np.float64))
    for name in ("values", "residuals", "errors", "actual_atoms", "coefficients"):
        assert getattr(single, name).dtype == np.float32, name
    np.testing.assert_allclose(single.errors, double.errors, rtol=0, atol=1e-4)


@over(COMPILED)
def test_float32_signals_of_any_size_are_finite(code):
    X = np.float32(1e38) * normalize(SIGNALS[:60]).astype(np.float32)
    codes = code(np.vstack([X, X * np.float32(1e-75)]), ATOMS.astype(np.float32))
    assert np.isfinite(codes.values).all()
    assert np.isfinite(codes.errors).all()


@over(COMPILED)
def test_mixed_float_types_are_coded_in_float64(code):
    assert code(SIGNALS[:3].astype(np.float32)).errors.dtype == np.float64
    assert code(SIGNALS[:3], normalize(ATOMS).astype(np.float32)).errors.dtype == np.float64


@over(COMPILED)
@pytest.mark.parametrize(
    "layout",
    [
        np.asfortranarray,
        lambda array: np.repeat(array, 2, axis=0)[::2],
        lambda array: np.repeat(array, 2, axis=1)[:, ::2],
        lambda array: array[::-1].copy()[::-1],
        np.ndarray.tolist,
    ],
    ids=["fortran", "every-other-row", "every-other-column", "backwards", "lists"],
)
def test_the_layout_of_the_input_does_not_matter(code, layout):
    assert_same(code(layout(SIGNALS), layout(ATOMS), RADII), code(SIGNALS))


@over(COMPILED)
@pytest.mark.parametrize("dtype", [np.int64, np.int8, bool])
def test_whole_numbers_are_coded_as_floats(code, dtype):
    X = (SIGNALS[:60] * 2).astype(dtype)
    assert_same(code(X), code(X.astype(np.float64)))


@over(COMPILED)
def test_inputs_are_not_modified_and_may_be_read_only(code):
    given = [SIGNALS.copy(), ATOMS.copy(), RADII.copy()]
    for array in given:
        array.setflags(write=False)
    assert_same(code(*given, n_jobs=2), code(SIGNALS))
    for array, original in zip(given, (SIGNALS, ATOMS, RADII), strict=True):
        np.testing.assert_array_equal(array, original)


@over(COMPILED)
def test_the_result_shares_no_memory_with_the_input(code):
    codes = code(SIGNALS, actual_atoms=True)
    for name in ("residuals", "values", "actual_atoms"):
        for given in (SIGNALS, ATOMS):
            assert not np.shares_memory(getattr(codes, name), given), name


# Bad input


@over(MATCHING)
def test_more_nonzeros_than_atoms_is_an_error(code):
    with pytest.raises(ValueError, match=r"n_nonzero=28.*27"):
        code(SIGNALS, n_nonzero=N_ATOMS + 1)


@over(MATCHING)
@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError)])
def test_n_nonzero_is_a_positive_whole_number(code, value, error):
    with pytest.raises(error, match="n_nonzero"):
        code(SIGNALS, n_nonzero=value)


@over(COMPILED)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_signals_that_are_not_finite_are_an_error(code, value):
    X = SIGNALS.copy()
    X[3, 2] = value
    with pytest.raises(ValueError, match=r"(?i)X.*(nan|inf)"):
        code(X)


@over(COMPILED)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_atoms_that_are_not_finite_are_an_error(code, value):
    atoms = ATOMS.copy()
    atoms[3, 2] = value
    with pytest.raises(ValueError, match=r"(?i)atoms.*(nan|inf)"):
        code(SIGNALS, atoms)


@over(COMPILED)
@pytest.mark.parametrize("factor", [0.0, 0.5, 1.01, 2.0])
def test_atoms_that_are_not_unit_vectors_are_an_error(code, factor):
    atoms = ATOMS.copy()
    atoms[4] *= factor
    with pytest.raises(ValueError, match=r"atoms\[4\].*norm"):
        code(SIGNALS, atoms)


@over(COMPILED)
def test_no_signals_are_an_error(code):
    with pytest.raises(ValueError, match="0 sample"):
        code(np.empty((0, N_FEATURES)))


@over(COMPILED)
def test_no_atoms_are_an_error(code):
    with pytest.raises(ValueError, match="0 sample"):
        code(SIGNALS, np.empty((0, N_FEATURES)), np.empty(0))


@over(COMPILED)
@pytest.mark.parametrize(
    ("X", "atoms"),
    [
        (SIGNALS[:, :-1], ATOMS),
        (SIGNALS, ATOMS[:, :-1]),
        (SIGNALS[0], ATOMS),
        (SIGNALS, ATOMS[0]),
        (SIGNALS[None], ATOMS),
    ],
    ids=["fewer features", "shorter atoms", "one signal flat", "one atom flat", "three axes"],
)
def test_wrong_shapes_are_an_error(code, X, atoms):
    atoms = atoms / np.linalg.norm(atoms, axis=-1, keepdims=True)
    with pytest.raises(ValueError, match=r"features|2D|dim"):
        code(X, atoms)


@over(SETS)
@pytest.mark.parametrize("radii", [RADII[:-1], RADII[:, None], 0.1], ids=["short", "column", "one"])
def test_one_radius_an_atom_is_required(code, radii):
    with pytest.raises(ValueError, match="radii"):
        code(SIGNALS, ATOMS, radii)


@over(SETS)
@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf])
def test_radii_are_finite_and_not_negative(code, value):
    radii = RADII.copy()
    radii[5] = value
    with pytest.raises(ValueError, match="radii"):
        code(SIGNALS, ATOMS, radii)


def with_radius(value: float) -> np.ndarray:
    return np.where(np.arange(N_ATOMS) == 5, value, RADII)


def test_cone_omp_accepts_radii_from_zero_to_below_root_two():
    for value in (0.0, 1.414):
        assert np.isfinite(code_cones(SIGNALS, ATOMS, with_radius(value)).errors).all()
    for value in (np.sqrt(2), 2.0):
        with pytest.raises(ValueError, match=r"radii\[5\]"):
            code_cones(SIGNALS, ATOMS, with_radius(value))


def test_gauss_l1_accepts_any_positive_radius_and_not_zero():
    for value in (1e-12, 1.5, 100.0):
        assert np.isfinite(code_gaussians(SIGNALS, ATOMS, with_radius(value)).errors).all()
    with pytest.raises(ValueError, match=r"radii\[5\]"):
        code_gaussians(SIGNALS, ATOMS, with_radius(0.0))


@pytest.mark.parametrize("name", ["lam", "gamma", "tol"])
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_weights_of_gauss_l1_are_positive_numbers(name, value):
    with pytest.raises(ValueError, match=name):
        code_gaussians(SIGNALS, **{name: value})


@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (2.5, TypeError)])
def test_max_sweeps_is_a_positive_whole_number(value, error):
    with pytest.raises(error, match="max_sweeps"):
        code_gaussians(SIGNALS, max_sweeps=value)


@pytest.mark.parametrize(("value", "error"), [(-1, ValueError), (0.5, TypeError)])
def test_cd_sweeps_is_a_whole_number(value, error):
    with pytest.raises(error, match="cd_sweeps"):
        code_cones(SIGNALS, cd_sweeps=value)


@over(COMPILED)
def test_zero_jobs_are_an_error(code):
    with pytest.raises(ValueError, match="n_jobs"):
        code(SIGNALS, n_jobs=0)
