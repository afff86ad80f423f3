"""Radii follow their distribution, their schedule and the use of the atoms."""

from __future__ import annotations

import math
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from setatoms.learning import radii as radii_module
from setatoms.learning.radii import AdaptiveRadii, FixedRadii, count_atoms, distribute

Array = NDArray[np.float64]

LOW, HIGH = 0.04, 0.12

usable_radii = st.floats(1e-6, 1.414)
given_radii = st.lists(usable_radii, min_size=1, max_size=30).map(np.array)


# Number of atoms


@pytest.mark.parametrize(
    ("n_atoms", "n_features", "count"),
    [(7, 3, 7), (np.int64(7), 3, 7), (1, 50, 1), (3.0, 5, 15), (2.5, 5, 13), (np.float32(2), 4, 8)],
)
def test_an_int_counts_atoms_and_a_float_counts_per_feature(
    n_atoms: float, n_features: int, count: int
) -> None:
    assert count_atoms(n_atoms, n_features) == count


@given(st.floats(0.5, 10.0), st.integers(1, 100))
def test_atoms_per_feature_are_rounded_half_up(ratio: float, n_features: int) -> None:
    assert count_atoms(ratio, n_features) == math.floor(ratio * n_features + 0.5)


@pytest.mark.parametrize("n_atoms", [0, -3, 0.0, -1.0, 0.01])
def test_fewer_than_one_atom_is_an_error(n_atoms: float) -> None:
    with pytest.raises(ValueError, match=rf"n_atoms={n_atoms} .*at least 1.*raise n_atoms"):
        count_atoms(n_atoms, 5)


@pytest.mark.parametrize("n_atoms", [np.nan, np.inf, "3", None, True, [3]])
def test_what_is_no_number_of_atoms_is_an_error(n_atoms: object) -> None:
    with pytest.raises(ValueError, match=r"n_atoms=.* is not a finite number; give a count"):
        count_atoms(n_atoms, 5)  # type: ignore[arg-type]


# Distributions


@given(st.integers(1, 500))
def test_named_distributions_have_their_share_at_the_largest(n_atoms: int) -> None:
    for name, share in (("50-50", 0.5), ("80-20", 0.2)):
        radii = distribute(name, n_atoms, (LOW, HIGH))
        n_largest = math.floor(share * n_atoms + 0.5)
        assert radii.tolist() == [HIGH] * n_largest + [LOW] * (n_atoms - n_largest)


@given(st.integers(2, 500))
def test_linear_is_an_even_grid_from_largest_to_smallest(n_atoms: int) -> None:
    radii = distribute("linear", n_atoms, (LOW, HIGH))
    assert radii.shape == (n_atoms,)
    assert radii[0] == HIGH
    assert radii[-1] == LOW
    # Differences of numbers near 0.1 are known to 1e-17.
    np.testing.assert_allclose(np.diff(radii), -(HIGH - LOW) / (n_atoms - 1), atol=1e-15)


@pytest.mark.parametrize("name", ["linear", "50-50", "80-20"])
def test_equal_limits_give_equal_radii(name: str) -> None:
    assert distribute(name, 7, (0.1, 0.1)).tolist() == [0.1] * 7


@given(given_radii)
def test_given_radii_in_any_order_are_sorted_and_otherwise_kept(radii: Array) -> None:
    before = radii.copy()
    sorted_radii = distribute(radii, len(radii))
    assert sorted_radii.tolist() == sorted(radii.tolist(), reverse=True)
    np.testing.assert_array_equal(radii, before)
    assert not np.shares_memory(sorted_radii, radii)


def test_an_unknown_distribution_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(
        ValueError, match=r"radii_distribution='normal'.*'linear', '50-50', '80-20'.*array"
    ):
        distribute("normal", 5)


@pytest.mark.parametrize(
    ("radii", "message"),
    [
        ((0.12, 0.04), r"radii=\(0.12, 0.04\) has its min above its max; give \(0.04, 0.12\)"),
        ((np.nan, 0.12), "radii contains nan, but radii must be finite"),
        ((0.04, np.inf), "radii contains inf, but radii must be finite"),
        ((0.0, 0.12), r"radii contains 0, but radii must be above 0 and below sqrt\(2\)"),
        ((-0.1, 0.12), r"radii contains -0.1, but radii must be above 0"),
        ((0.04, math.sqrt(2.0)), r"radii contains 1.41421, .* below sqrt\(2\)"),
        ((0.04, 0.08, 0.12), "radii=.* must be two numbers"),
        (0.1, "radii=0.1 must be two numbers"),
        (("a", "b"), "radii=.* is not made of numbers"),
    ],
)
@pytest.mark.parametrize("name", ["linear", "50-50", "80-20"])
def test_unusable_limits_are_an_error(name: str, radii: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        distribute(name, 5, radii)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("radii", "message"),
    [
        ([0.1, 0.1], r"shape \(2,\), but there are n_atoms=3 atoms; give one radius per atom"),
        ([[0.1, 0.1, 0.1]], r"shape \(1, 3\)"),
        (0.1, r"shape \(\)"),
        ([0.1, np.nan, 0.1], "radii_distribution contains nan, but radii must be finite"),
        ([0.1, 0.0, 0.1], r"radii_distribution contains 0, .* above 0"),
        ([0.1, 1.5, 0.1], r"radii_distribution contains 1.5, .* below sqrt\(2\)"),
        (["a", "b", "c"], "radii_distribution=.* is not made of numbers"),
    ],
)
def test_unusable_given_radii_are_an_error(radii: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        distribute(radii, 3)  # type: ignore[arg-type]


# Fixed radii


@given(given_radii, st.integers(0, 2**32 - 1))
def test_fixed_radii_are_the_distribution_in_an_order_of_the_seed(radii: Array, seed: int) -> None:
    schedule = FixedRadii(radii)
    start = schedule.start(np.random.default_rng(seed))
    assert sorted(start.tolist()) == sorted(radii.tolist())
    np.testing.assert_array_equal(start, schedule.start(np.random.default_rng(seed)))
    assert not any(schedule.adapts_at(k) for k in range(1, 200))


def test_fixed_radii_refuse_to_adapt() -> None:
    with pytest.raises(RuntimeError, match="do not adapt"):
        FixedRadii([0.1, 0.2]).at(10, [1.0, 2.0])


# Adaptive radii


@given(given_radii, st.integers(1, 12), st.integers(0, 60), st.integers(0, 2**32 - 1))
def test_the_schedule_is_the_formula(radii: Array, every: int, more: int, seed: int) -> None:
    rho_bar, n_iter = distribute(radii, len(radii)), every + more
    schedule = AdaptiveRadii(rho_bar, n_iter, every)
    mean = rho_bar.mean()
    np.testing.assert_array_equal(
        schedule.start(np.random.default_rng(seed)), np.full(len(rho_bar), mean)
    )
    usage = np.random.default_rng(seed).permutation(len(radii))
    steps = [k for k in range(1, n_iter + 1) if schedule.adapts_at(k)]
    assert steps == list(range(every, n_iter + 1, every))
    for k in steps:
        expected = mean + (k / every) * (rho_bar - mean) / (n_iter // every)
        # Radii are below sqrt(2); the formula in another order rounds a few times.
        np.testing.assert_allclose(
            schedule.at(k, usage)[np.argsort(-usage)], expected, rtol=0, atol=1e-14
        )


@given(given_radii, st.integers(1, 12), st.integers(0, 60), st.integers(0, 2**32 - 1))
def test_the_last_step_is_the_distribution_bit_for_bit(
    radii: Array, every: int, more: int, seed: int
) -> None:
    n_iter = every + more
    schedule = AdaptiveRadii(radii, n_iter, every)
    usage = np.random.default_rng(seed).random(len(radii))
    final = schedule.at(every * (n_iter // every), usage)
    assert sorted(final.tolist()) == sorted(radii.tolist())


@given(given_radii, st.integers(0, 2**32 - 1))
def test_the_more_an_atom_is_used_the_larger_its_radius(radii: Array, seed: int) -> None:
    usage = np.random.default_rng(seed).permutation(len(radii)).astype(np.float64)
    schedule = AdaptiveRadii(radii, 100, 10)
    for k in (10, 50, 100):
        by_use = schedule.at(k, usage)[np.argsort(usage)]
        assert np.all(np.diff(by_use) >= 0.0)


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.uint32])
def test_atoms_used_equally_are_served_by_index(dtype: np.typing.DTypeLike) -> None:
    schedule = AdaptiveRadii([0.5, 0.4, 0.3, 0.2, 0.1], 10, 10)
    usage: NDArray[np.number] = np.array([0, 7, 0, 7, 9], dtype=dtype)
    assert schedule.at(10, usage).tolist() == [0.2, 0.4, 0.1, 0.3, 0.5]


def test_what_a_step_returns_is_the_callers_to_change() -> None:
    schedule = AdaptiveRadii([0.2, 0.1], 10, 10)
    schedule.at(10, [1.0, 0.0])[:] = np.nan
    assert schedule.at(10, [1.0, 0.0]).tolist() == [0.2, 0.1]


def test_the_norm_chooses_the_use_of_atoms() -> None:
    statistics = SimpleNamespace(n_users=np.array([1.0, 2.0]), abs_sum=np.array([4.0, 3.0]))
    assert AdaptiveRadii([0.1, 0.2], 10, 10, norm="l0").usage_of(statistics) is statistics.n_users
    assert AdaptiveRadii([0.1, 0.2], 10, 10, norm="l1").usage_of(statistics) is statistics.abs_sum


def test_fewer_iterations_than_between_adaptations_are_an_error() -> None:
    message = (
        "n_iter=5 is below adapt_every=10, so radii could never adapt; "
        "raise n_iter or lower adapt_every"
    )
    with pytest.raises(ValueError, match=message):
        AdaptiveRadii([0.1, 0.2], 5, 10)


def test_adapting_every_zero_iterations_is_an_error() -> None:
    with pytest.raises(ValueError, match="adapt_every=0 must be at least 1; raise adapt_every"):
        AdaptiveRadii([0.1, 0.2], 5, 0)


def test_an_unknown_norm_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(ValueError, match=r"adapt='l2' is not known; choose one of \('l1', 'l0'\)"):
        AdaptiveRadii([0.1, 0.2], 10, 10, norm="l2")


def test_radii_need_no_compiler() -> None:
    code = f"import runpy, sys; runpy.run_path({radii_module.__file__!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "numpy" in done.stdout.split()
    assert "numba" not in done.stdout.split()
