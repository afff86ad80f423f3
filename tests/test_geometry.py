"""Cones are disjoint after separation and after pulling back, and nothing moves without need."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from setatoms.geometry import (
    InfeasibleConesError,
    count_overlaps,
    min_distances,
    pull_back,
    separate,
)

Array = NDArray[np.float64]

# A few hundred rounding errors of unit vectors.
ROUNDING = 1e-13
# What the library itself takes for disjoint, in chord distance.
TOLERANCE = 1e-9

seeds = st.integers(0, 2**32 - 1)
rotations = st.sampled_from(["symmetric", "by-radius"])


@st.composite
def crowds(draw: st.DrawFn) -> tuple[Array, Array]:
    """Draw atoms, from spread out to coincident, and radii that leave room for all."""
    n_features = draw(st.integers(2, 12))
    n_atoms = draw(st.integers(1, 4 * n_features))
    spread = draw(st.sampled_from([0.0, 1e-12, 1e-3, 0.1, 1.0, 10.0]))
    rng = np.random.default_rng(draw(seeds))
    centre = rng.standard_normal(n_features)
    signs = rng.choice([-1.0, 1.0], size=(n_atoms, 1))
    atoms = signs * (centre + spread * rng.standard_normal((n_atoms, n_features)))
    return unit(atoms), rng.uniform(0.01, 0.12, n_atoms)


def unit(rows: Array) -> Array:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def distances(atoms: Array) -> Array:
    """Return chord distances up to sign, by the definition: no cosines, no compiled code."""
    towards = np.linalg.norm(atoms[:, None] - atoms[None], axis=2)
    away = np.linalg.norm(atoms[:, None] + atoms[None], axis=2)
    return np.asarray(np.minimum(towards, away))


def overlapping(atoms: Array, radii: Array, min_separation: float = 0.01) -> list[tuple[int, int]]:
    short = distances(atoms) < min_distances(radii, min_separation) - TOLERANCE
    return [(i, j) for i, j in np.argwhere(short) if i < j]


def pair_at(angle: float, n_features: int = 5, sign: float = 1.0) -> Array:
    """Return two unit vectors at that angle in a random plane."""
    plane = np.linalg.qr(np.random.default_rng(7).standard_normal((n_features, 2)))[0].T
    return np.array([plane[0], sign * (np.cos(angle) * plane[0] + np.sin(angle) * plane[1])])


def angle_between(u: Array, v: Array) -> float:
    return float(2.0 * np.arcsin(min(np.linalg.norm(u - v), np.linalg.norm(u + v)) / 2.0))


# Distances


def test_cones_that_just_touch_are_at_the_sum_of_their_half_angles() -> None:
    radii = np.array([0.04, 0.12, 1.1])
    half_angles = 2.0 * np.arcsin(radii / 2.0)
    touching = 2.0 * np.sin((half_angles[:, None] + half_angles) / 2.0)
    np.testing.assert_allclose(min_distances(radii, 0.0), touching, rtol=ROUNDING)
    np.testing.assert_allclose(min_distances(radii, 0.25), touching + 0.25, rtol=ROUNDING)


def test_no_member_of_one_disjoint_cone_is_in_the_other() -> None:
    radii = np.array([0.3, 0.5])
    reach = 2.0 * np.arcsin(min_distances(radii, 0.0)[0, 1] / 2.0)
    first, second = pair_at(reach)
    # the member of the first cone that is nearest to the second atom
    toward = unit((second - (second @ first) * first)[None])[0]
    half_angle = 2.0 * np.arcsin(radii[0] / 2.0)
    member = np.cos(half_angle) * first + np.sin(half_angle) * toward
    assert np.linalg.norm(member - second) == pytest.approx(radii[1], abs=ROUNDING)


@given(crowds())
def test_overlaps_are_counted_as_defined(crowd: tuple[Array, Array]) -> None:
    atoms, radii = crowd
    assert count_overlaps(atoms, radii) == len(overlapping(atoms, radii))


@given(crowds(), seeds)
def test_overlaps_do_not_depend_on_signs(crowd: tuple[Array, Array], seed: int) -> None:
    atoms, radii = crowd
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(len(atoms), 1))
    assert count_overlaps(signs * atoms, radii) == count_overlaps(atoms, radii)


def test_the_tolerance_is_a_chord_distance() -> None:
    radii = np.array([0.1, 0.1])
    needed = min_distances(radii)[0, 1]
    inside = pair_at(2.0 * np.arcsin((needed - 0.9e-9) / 2.0))
    beyond = pair_at(2.0 * np.arcsin((needed - 1.1e-9) / 2.0))
    assert count_overlaps(inside, radii) == 0
    assert count_overlaps(beyond, radii) == 1
    assert count_overlaps(beyond, radii, tol=1.2e-9) == 0


# Separation


@given(crowds(), rotations, seeds)
def test_separated_cones_are_disjoint_unit_and_counted(
    crowd: tuple[Array, Array], rotation: str, seed: int
) -> None:
    atoms, radii = crowd
    given_atoms, given_radii = atoms.copy(), radii.copy()
    rng = np.random.default_rng(seed)
    separated, n_resolved = separate(atoms, radii, rotation=rotation, rng=rng)
    assert overlapping(separated, radii) == []
    assert count_overlaps(separated, radii) == 0
    np.testing.assert_allclose(np.linalg.norm(separated, axis=1), 1.0, atol=ROUNDING)
    assert n_resolved == len(overlapping(atoms, radii))
    np.testing.assert_array_equal(atoms, given_atoms)
    np.testing.assert_array_equal(radii, given_radii)


@given(crowds(), rotations, seeds)
def test_same_seed_same_separation(crowd: tuple[Array, Array], rotation: str, seed: int) -> None:
    first, second = (
        separate(*crowd, rotation=rotation, rng=np.random.default_rng(seed))[0] for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


@given(crowds(), seeds)
def test_disjoint_cones_stay_and_draw_nothing(crowd: tuple[Array, Array], seed: int) -> None:
    atoms, radii = crowd
    rng = np.random.default_rng(seed)
    separated, _ = separate(atoms, radii, rng=rng)
    state = rng.bit_generator.state
    again, n_resolved = separate(separated, radii, rng=rng)
    assert n_resolved == 0
    np.testing.assert_array_equal(again, separated)
    assert again is not separated
    assert rng.bit_generator.state == state


def test_only_the_atoms_in_conflict_move() -> None:
    atoms = np.eye(6)
    atoms[1] = unit(atoms[None, 0] + 0.01 * atoms[None, 1])[0]
    separated, n_resolved = separate(atoms, np.full(6, 0.1), rng=np.random.default_rng(0))
    assert n_resolved == 1
    moved = np.any(separated != atoms, axis=1)
    assert moved.tolist() == [True, True, False, False, False, False]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("rotation", ["symmetric", "by-radius"])
@pytest.mark.parametrize("angle", [1e-4, 0.05, 0.2])
def test_a_single_pair_ends_exactly_at_the_distance_needed(
    angle: float, rotation: str, sign: float
) -> None:
    atoms, radii = pair_at(angle, sign=sign), np.array([0.1, 0.25])
    separated, _ = separate(atoms, radii, rotation=rotation, rng=np.random.default_rng(0))
    # At angle 1e-4 the plane of the pair is known to 1e-16/1e-4 only.
    assert distances(separated)[0, 1] == pytest.approx(min_distances(radii)[0, 1], abs=1e-11)
    # ... and in their plane
    assert np.linalg.matrix_rank(np.vstack([atoms, separated]), tol=1e-10) == 2


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_both_atoms_turn_by_the_angle_of_the_paper(sign: float) -> None:
    atoms, radii = pair_at(0.13, sign=sign), np.array([0.1, 0.25])
    separated, _ = separate(atoms, radii, rng=np.random.default_rng(0))
    dmin, dist = min_distances(radii)[0, 1], distances(atoms)[0, 1]
    # equation (rotation) of the paper, the sine of a difference
    theta = np.arcsin(
        dmin / 2.0 * np.sqrt(1.0 - dist**2 / 4.0) - dist / 2.0 * np.sqrt(1.0 - dmin**2 / 4.0)
    )
    for before, after in zip(atoms, separated, strict=True):
        assert angle_between(before, after) == pytest.approx(theta, abs=1e-12)


@given(st.floats(0.01, 1.4), st.floats(0.0, 1.0))
def test_the_rotation_is_the_formula_of_the_paper(dmin: float, share: float) -> None:
    dist = share * dmin
    ours = np.arcsin(dmin / 2.0) - np.arcsin(dist / 2.0)
    paper = np.arcsin(
        dmin / 2.0 * np.sqrt(1.0 - dist**2 / 4.0) - dist / 2.0 * np.sqrt(1.0 - dmin**2 / 4.0)
    )
    assert ours == pytest.approx(paper, abs=ROUNDING)


@pytest.mark.parametrize(("radii", "ratio"), [((0.1, 0.3), 3.0), ((0.0, 0.0), 1.0)])
def test_rotation_by_radius_splits_the_same_total_inversely(
    radii: tuple[float, float], ratio: float
) -> None:
    atoms, rho = pair_at(0.004), np.array(radii)
    by_radius, _ = separate(atoms, rho, rotation="by-radius", rng=np.random.default_rng(0))
    first, second = (angle_between(*pair) for pair in zip(atoms, by_radius, strict=True))
    total = 2.0 * np.arcsin(min_distances(rho)[0, 1] / 2.0) - 0.004
    # The plane of atoms at angle 0.004 is known to 1e-16/0.004.
    assert first + second == pytest.approx(total, abs=1e-12)
    assert first / second == pytest.approx(ratio, rel=1e-9)


def test_coincident_atoms_part_in_a_direction_of_the_seed() -> None:
    atoms, radii = np.repeat(np.eye(4)[:1], 2, axis=0), np.array([0.1, 0.1])
    one, two = (separate(atoms, radii, rng=np.random.default_rng(seed))[0] for seed in (1, 2))
    for separated in (one, two):
        assert distances(separated)[0, 1] == pytest.approx(min_distances(radii)[0, 1], abs=ROUNDING)
    assert np.linalg.norm(one - two) > 0.01


@pytest.mark.parametrize("start", ["same", "opposite", "cluster", "random"])
@pytest.mark.parametrize(
    ("n_atoms", "n_features", "largest"),
    [
        (8, 2, 0.12),
        (12, 3, 0.12),
        (200, 50, 0.12),
        (8, 2, 0.189),  # fills 99 % of the half circle
        (50, 2, 0.0262),  # 99 % again, where an overlap is passed on fifty times
        (12, 3, 0.34),  # close to the limit, which is below 0.36
        (40, 10, 0.58),
    ],
)
def test_crowded_cones_are_separated_from_any_start(
    start: str, n_atoms: int, n_features: int, largest: float
) -> None:
    rng = np.random.default_rng(0)
    centre = rng.standard_normal((1, n_features))
    atoms = {
        "same": np.repeat(centre, n_atoms, axis=0),
        "opposite": centre * np.resize([[1.0], [-1.0]], (n_atoms, 1)),
        "cluster": centre + 0.05 * rng.standard_normal((n_atoms, n_features)),
        "random": rng.standard_normal((n_atoms, n_features)),
    }[start]
    radii = np.full(n_atoms, largest)
    separated, _ = separate(unit(atoms), radii, rng=rng)
    assert overlapping(separated, radii) == []


@pytest.mark.parametrize(
    ("n_atoms", "n_features", "radius"),
    [
        (2, 1, 0.1),  # a line holds one cone
        (3, 5, 0.8),  # dmin above sqrt(2)
        (8, 2, 0.3),  # more than the half circle
        (200, 50, 0.72),  # Welch's bound
        (12, 3, 0.36),  # within all bounds: only the bounded effort ends it
    ],
)
def test_infeasible_cones_are_an_error_that_says_what_to_lower(
    n_atoms: int, n_features: int, radius: float
) -> None:
    rng = np.random.default_rng(0)
    atoms, radii = unit(rng.standard_normal((n_atoms, n_features))), np.full(n_atoms, radius)
    with pytest.raises(InfeasibleConesError) as caught:
        separate(atoms, radii, rng=rng)
    message = str(caught.value)
    assert f"n_atoms={n_atoms}" in message
    assert f"{radius:g}" in message
    assert f"{n_features} features" in message
    assert "lower n_atoms, radii or min_separation" in message
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("n_features", [2, 3, 4, 8])
def test_orthogonal_cones_of_the_largest_radius_fit(n_features: int) -> None:
    # dmin = sqrt(2) at a half-angle of 45 degrees: an orthonormal basis is tight, yet no error
    radii = np.full(n_features, 2.0 * np.sin(np.pi / 8.0))
    rng = np.random.default_rng(0)
    separated, _ = separate(np.eye(n_features), radii, min_separation=0.0, rng=rng)
    np.testing.assert_array_equal(separated, np.eye(n_features))


def test_a_wide_gap_is_infeasible_too() -> None:
    with pytest.raises(InfeasibleConesError, match=r"min_separation=1\.5 cannot be disjoint"):
        separate(np.eye(3), np.full(3, 0.1), min_separation=1.5, rng=np.random.default_rng(0))


def test_effort_is_bounded_by_the_rounds_given() -> None:
    atoms, radii = np.repeat(np.eye(3)[:1], 12, axis=0), np.full(12, 0.12)
    with pytest.raises(InfeasibleConesError, match="after 2 rounds"):
        separate(atoms, radii, rng=np.random.default_rng(0), max_rounds=2)


def test_an_unknown_rotation_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(ValueError, match=r"rotation='half'.*'symmetric', 'by-radius'"):
        separate(np.eye(2), [0.1, 0.1], rotation="half", rng=np.random.default_rng(0))


# Pulling back


@st.composite
def moves(draw: st.DrawFn) -> tuple[Array, Array, Array]:
    """Draw atoms after a move, the disjoint ones before it, and their radii."""
    atoms, radii = draw(crowds())
    rng = np.random.default_rng(draw(seeds))
    previous, _ = separate(atoms, radii, rng=rng)
    step = draw(st.sampled_from([0.01, 0.1, 1.0, 10.0]))
    moved = unit(previous + step * rng.standard_normal(previous.shape))
    stays = rng.random(len(moved)) < draw(st.sampled_from([0.0, 0.5]))
    return np.where(stays[:, None], previous, moved), previous, radii


@given(moves())
def test_pulled_back_cones_are_disjoint_unit_and_counted(move: tuple[Array, Array, Array]) -> None:
    atoms, previous, radii = move
    copies = atoms.copy(), previous.copy(), radii.copy()
    pulled, n_resolved = pull_back(atoms, previous, radii)
    assert overlapping(pulled, radii) == []
    np.testing.assert_allclose(np.linalg.norm(pulled, axis=1), 1.0, atol=ROUNDING)
    assert n_resolved == len(overlapping(atoms, radii))
    for now, before in zip(move, copies, strict=True):
        np.testing.assert_array_equal(now, before)


@given(moves())
def test_pulled_back_atoms_lie_on_the_arcs(move: tuple[Array, Array, Array]) -> None:
    atoms, previous, radii = move
    pulled, _ = pull_back(atoms, previous, radii)
    for start, end, between in zip(previous, atoms, pulled, strict=True):
        way = angle_between(start, end)
        # On the shortest arc the two parts add up; off it by e, they exceed it by e^2 or more.
        detour = angle_between(start, between) + angle_between(between, end) - way
        assert detour == pytest.approx(0.0, abs=1e-12)


@given(moves())
def test_atoms_that_stay_or_never_conflict_are_kept(move: tuple[Array, Array, Array]) -> None:
    atoms, previous, radii = move
    pulled, _ = pull_back(atoms, previous, radii)
    stayed = np.all(atoms == previous, axis=1)
    np.testing.assert_array_equal(pulled[stayed], previous[stayed])
    if not overlapping(atoms, radii):
        np.testing.assert_array_equal(pulled, atoms)


def test_a_bystander_of_a_conflict_keeps_its_new_place() -> None:
    previous, radii = np.eye(5), np.full(5, 0.1)
    atoms = previous.copy()
    atoms[0] = unit(previous[None, 0] + 0.99 * previous[None, 1])[0]
    atoms[1] = unit(previous[None, 1] + 0.99 * previous[None, 0])[0]
    atoms[4] = unit(previous[None, 4] + 0.5 * previous[None, 3])[0]
    pulled, n_resolved = pull_back(atoms, previous, radii)
    assert n_resolved == 1
    np.testing.assert_array_equal(pulled[2:], atoms[2:])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_single_pair_goes_back_just_as_far_as_needed(sign: float) -> None:
    previous, radii = np.eye(4), np.array([0.1, 0.2, 0.1, 0.1])
    atoms = previous.copy()
    atoms[0] = unit(previous[None, 0] + 0.9 * previous[None, 1])[0]
    atoms[1] = sign * unit(previous[None, 1] + 0.8 * previous[None, 0])[0]
    pulled, _ = pull_back(atoms, previous, radii)
    # The way back is halved forty times: 1e-12 of an arc shorter than pi/2.
    assert distances(pulled)[0, 1] == pytest.approx(min_distances(radii)[0, 1], abs=1e-11)
    # the sign of the previous place is kept
    assert np.all(np.sum(pulled[:2] * previous[:2], axis=1) > 0.0)


def test_atoms_still_in_conflict_after_the_rounds_return_home() -> None:
    previous, radii = np.eye(4), np.full(4, 0.1)
    atoms = unit(previous + 20.0)
    pulled, _ = pull_back(atoms, previous, radii, rounds=0)
    np.testing.assert_array_equal(pulled, previous)


def test_homecomers_push_others_home_until_all_are_disjoint() -> None:
    # 1 meets 2 and both return; 0 had moved to the place of 1 and must return as well
    previous, radii = np.eye(4)[:3], np.full(3, 0.1)
    atoms = np.array([previous[1], unit((previous[1] + previous[2])[None])[0], np.zeros(4)])
    atoms[2] = atoms[1]
    pulled, n_resolved = pull_back(atoms, previous, radii, rounds=0)
    assert n_resolved == 1
    np.testing.assert_array_equal(pulled, previous)


def test_pulling_back_to_overlapping_cones_is_an_error() -> None:
    previous, radii = np.repeat(np.eye(3)[:1], 2, axis=0), np.full(2, 0.1)
    with pytest.raises(ValueError, match=r"previous has 1 overlapping.*separate them first"):
        pull_back(previous, previous, radii)
