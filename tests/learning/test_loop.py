"""The learning loop: what a pass adds up, and where it leads."""

import numpy as np
import pytest

from setatoms import aksvd, cone_omp, gauss_l1
from setatoms.geometry import count_overlaps
from setatoms.learning import AdaptiveRadii, ConeAtoms, FixedRadii, GaussianAtoms, distribute, learn

KINDS = [GaussianAtoms(), ConeAtoms()]
NAMES = ["gaussian", "cone"]
kinds = pytest.mark.parametrize("kind", KINDS, ids=NAMES)


def problem(n_samples=700, n_features=8, n_atoms=24, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, 3)) @ rng.standard_normal((3, n_features))
    X += 0.3 * rng.standard_normal((n_samples, n_features))
    atoms = aksvd(X, n_atoms, n_iter=5, random_state=seed)
    radii = distribute("linear", n_atoms, (0.04, 0.12))
    return X, *KINDS[1].separate(atoms, radii, rng)[:1], radii


def statistics(kind, X, atoms, radii, n_jobs=1):
    return kind.statistics(X, atoms, radii, kind.remember(X, atoms, radii), n_jobs=n_jobs)


def test_a_gaussian_update_is_the_mean_of_the_actual_atoms():
    X, atoms, radii = problem()
    kind = GaussianAtoms(fit_max_sweeps=1000, fit_tol=1e-9)
    codes = gauss_l1(X, atoms, radii, tol=1e-9, actual_atoms=True)
    sums = np.zeros_like(atoms)
    used = codes.support >= 0
    np.add.at(sums, codes.support[used], codes.actual_atoms[used])
    expected = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    expected = np.where(np.isnan(expected), atoms, expected)
    found = statistics(kind, X, atoms, radii)
    # actual atoms are recovered from converged codes, to the accuracy of convergence
    np.testing.assert_allclose(found.apply(atoms), expected, atol=1e-4)
    np.testing.assert_array_equal(
        found.n_users, np.bincount(codes.support[used], minlength=len(atoms))
    )
    np.testing.assert_allclose(found.abs_sum, np.abs(codes.coefficients).sum(axis=0), rtol=1e-10)


def test_a_cone_update_is_its_formula():
    X, atoms, radii = problem()
    codes = cone_omp(X, atoms, radii)
    x = codes.coefficients.toarray()
    expected = (x**2).sum(axis=0)[:, None] * atoms + x.T @ codes.residuals
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    expected = np.where(np.isnan(expected), atoms, expected)
    found = statistics(ConeAtoms(), X, atoms, radii)
    np.testing.assert_allclose(found.apply(atoms), expected, atol=1e-12)
    assert found.objective == pytest.approx(np.sum(codes.errors**2))


def test_atoms_as_good_as_rigid_are_learned_without_overflow():
    X, atoms, radii = problem()
    tiny = statistics(GaussianAtoms(), X, atoms, np.full_like(radii, 1e-200))
    assert np.isfinite(tiny.weight).all()
    assert np.isfinite(tiny.pull).all()
    # such an atom does not lean, so its centre stays
    np.testing.assert_allclose(tiny.apply(atoms), atoms, atol=1e-12)


@kinds
def test_the_sums_over_two_parts_are_those_over_all(kind):
    X, atoms, radii = problem()
    whole = statistics(kind, X, atoms, radii)
    parts = [statistics(kind, part, atoms, radii) for part in (X[:300], X[300:])]
    for name, value in vars(whole).items():
        # the same terms in another order
        total = sum(getattr(part, name) for part in parts)
        np.testing.assert_allclose(total, value, rtol=1e-10, atol=1e-10)


@kinds
def test_an_atom_that_no_signal_uses_stays(kind):
    X, atoms, radii = problem()
    # orthogonal to every signal and to every other atom
    X[:, 0] = atoms[:, 0] = 0
    atoms[5] = np.eye(8)[0]
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    found = statistics(kind, X, atoms, radii)
    assert found.n_users[5] == 0
    np.testing.assert_array_equal(found.apply(atoms)[5], atoms[5])


def test_a_pass_that_starts_from_the_last_codes_finds_the_same():
    X, atoms, radii = problem()
    kind = GaussianAtoms(fit_max_sweeps=1000, fit_tol=1e-8)
    memory = kind.remember(X, atoms, radii)
    cold, warm = (kind.statistics(X, atoms, radii, memory, n_jobs=1) for _ in range(2))
    assert warm.objective == pytest.approx(cold.objective, rel=1e-6)
    np.testing.assert_allclose(warm.apply(atoms), cold.apply(atoms), atol=1e-3)


@kinds
def test_the_same_seed_gives_the_same_atoms_for_any_number_of_threads(kind):
    X, atoms, radii = problem(n_samples=3000)
    schedule = AdaptiveRadii(radii, 20, 10, norm="l1")
    one, two = (
        learn(
            X, atoms, kind, schedule, n_iter=20, rng=np.random.default_rng(0), n_jobs=n_jobs
        ).dictionary
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.atoms, two.atoms)
    np.testing.assert_array_equal(one.radii, two.radii)


@kinds
def test_history_has_an_entry_for_each_iteration_and_adaptation(kind):
    X, atoms, radii = problem()
    schedule = AdaptiveRadii(radii, 25, 10, norm="l0")
    learned = learn(X, atoms, kind, schedule, n_iter=25, rng=np.random.default_rng(0))
    history = learned.dictionary.history
    assert {len(history.error), len(history.objective), len(history.unused)} == {25}
    assert len(history.overlaps) == 25
    assert history.adapted_at.tolist() == [10, 20]
    assert history.radii.shape == history.usage.shape == (2, 24)


@kinds
def test_an_exception_from_the_callback_stops_learning(kind):
    X, atoms, radii = problem()
    seen = []

    def stop_at_three(k, error):
        seen.append(k)
        if k == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn(
            X, atoms, kind, FixedRadii(radii), n_iter=50, rng=np.random.default_rng(0),
            on_iteration=stop_at_three,
        )  # fmt: skip
    assert seen == [1, 2, 3]


def test_cones_are_disjoint_after_every_iteration():
    X, atoms, radii = problem(n_features=4, n_atoms=16)
    overlaps = []

    class Watched(ConeAtoms):
        def separate(self, *arguments):
            return self._count(super().separate(*arguments), arguments[1])

        def hold_back(self, *arguments):
            return self._count(super().hold_back(*arguments), arguments[2])

        def _count(self, result, radii):
            overlaps.append(count_overlaps(result[0], radii, self.min_separation))
            return result

    schedule = AdaptiveRadii(radii, 60, 10, norm="l1")
    learn(X, atoms, Watched(), schedule, n_iter=60, rng=np.random.default_rng(0))
    assert len(overlaps) == 61
    assert not any(overlaps)


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_learning_lowers_the_error_and_adaptive_radii_lower_it_further(kind, load_adbench):
    gains, falls = [], []
    for name in ("wine", "glass", "vertebral", "breastw", "Hepatitis"):
        X, y = load_adbench(name)
        X = X[y == 0]
        X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
        errors = {True: [], False: []}
        for seed in range(3):
            start = aksvd(X, 3 * X.shape[1], random_state=seed)
            rho_bar = distribute("linear", len(start), (0.04, 0.12))
            for adaptive in (True, False):
                schedule = AdaptiveRadii(rho_bar, 100, 10) if adaptive else FixedRadii(rho_bar)
                rng = np.random.default_rng(seed)
                learned = learn(X, start, kind, schedule, n_iter=100, rng=rng).dictionary
                errors[adaptive].append(learned.errors(X).mean())
                falls.append(learned.history.error[0] - learned.history.error[-1])
        gains.append(np.mean(errors[False]) - np.mean(errors[True]))
    assert np.mean(falls) > 0
    assert np.mean(gains) > 0
    assert np.sum(np.array(gains) > 0) >= 4


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_iterations_in_which_nothing_moves_are_left_out_until_radii_adapt(kind):
    X, atoms, radii = problem()
    schedule = AdaptiveRadii(radii, 30, 10)

    def run(tol):
        rng = np.random.default_rng(0)
        return learn(X, atoms, kind, schedule, n_iter=30, rng=rng, tol=tol).dictionary

    # iterations 1, 10, 11, 20, 21, 30
    assert len(run(tol=10.0).history.error) == 6
    assert list(run(tol=10.0).history.adapted_at) == [10, 20, 30]
    patient, never = run(tol=1e-12), run(tol=0.0)
    assert len(never.history.error) == 30
    np.testing.assert_allclose(patient.atoms, never.atoms, atol=1e-10)


def test_large_rows_do_not_let_the_objective_rise_again():
    """Old codes of rows far out do not work out with moved atoms; the coder must start afresh."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 6)) + 0.1 * rng.normal(size=(300, 6))
    X = X * [1, 10, 0.1, 5, 2, 1] + [0, 3, 1, -9, 0, 5]
    start = aksvd(X, 18, random_state=0)
    schedule = FixedRadii(np.full(18, 0.08))
    rng = np.random.default_rng(0)
    history = learn(X, start, GaussianAtoms(), schedule, n_iter=60, rng=rng).dictionary.history
    # codes are rough while learning, so it need not fall in every single iteration
    assert (np.diff(history.objective) < 0.05 * history.objective[:-1]).all()
    assert history.objective[-1] < history.objective[0]
