"""Parameters are chosen by trials that need no labels."""

import numpy as np
import pytest

import setatoms
from setatoms.estimators import choosing
from setatoms.geometry import InfeasibleConesError
from setatoms.progress import Progress


def sparse_cones(**parameters):
    """Return a detector with too few atoms for a row: there are three causes."""
    few = {"n_nonzero": 1, "n_iter": 12, "adapt_every": 3, "random_state": 0}
    return setatoms.ConeAtomDetector(**{**few, **parameters})


def test_a_value_that_is_clearly_better_is_taken(rows):
    detector = sparse_cones()
    choice = setatoms.choose_parameters(rows, detector, {"n_nonzero": [2]})
    assert choice.parameters == {"n_nonzero": 2}
    assert choice.detector.get_params() == {**detector.get_params(), "n_nonzero": 2}
    assert detector.n_nonzero == 1
    assert not hasattr(detector, "n_features_in_")
    given, taken = choice.candidates
    assert given.parameters == {}
    assert taken.gain == pytest.approx(np.mean(taken.aucs - given.aucs))
    assert taken.better


def test_independent_columns_have_nothing_to_gain():
    X = np.random.default_rng(0).normal(size=(400, 4))
    given, *others = setatoms.choose_parameters(X, sparse_cones(), {"n_nonzero": [2, 3]}).candidates
    # all rows look broken, so that the lower half is left out, which alone makes it 0.75
    assert np.mean(given.aucs) == pytest.approx(0.75, abs=0.1)
    # there is no relation to break, so no value can be better but by luck
    assert max(candidate.gain for candidate in others) < 0.05


def test_the_same_value_gains_nothing(rows):
    _, same = setatoms.choose_parameters(rows, sparse_cones(), {"n_nonzero": [1]}).candidates
    assert same.gain == 0
    assert not same.better


@pytest.mark.parametrize("name", ["SetAtomEnsemble", "GaussianAtomDetector", "VectorAtomDetector"])
def test_the_default_grid_has_what_the_detector_has(name, rows):
    detector = getattr(setatoms, name)(n_iter=10, random_state=0)
    many_rows = np.tile(rows[:, :3], (3, 1))
    choice = setatoms.choose_parameters(many_rows, detector, n_trials=2)
    tried = {parameter for c in choice.candidates for parameter in c.parameters}
    assert tried == set(choosing.GRID) & set(detector.get_params())


def test_atoms_for_fewer_than_twenty_rows_each_are_not_tried(rows):
    detector = setatoms.GaussianAtomDetector(n_iter=10, random_state=0)
    choice = setatoms.choose_parameters(rows, detector, n_trials=2)
    assert not any("n_atoms" in candidate.parameters for candidate in choice.candidates)


def test_a_candidate_that_is_behind_gets_no_more_trials(rows):
    detector = sparse_cones(n_nonzero=2)
    given, worse = setatoms.choose_parameters(rows, detector, {"n_nonzero": [1]}).candidates
    assert len(given.aucs) == 5
    assert len(worse.aucs) == 2
    assert worse.gain == pytest.approx(np.mean(worse.aucs - given.aucs[:2]))
    assert worse.gain < 0
    assert not worse.better


@pytest.mark.parametrize("share", [0.0, 0.1, 0.4, 1.0])
def test_the_share_of_anomalies_is_seen_from_broken_rows(share):
    rng = np.random.default_rng(0)
    broken = rng.normal(-3, 1, size=20_000)
    n_anomalies = round(share * 20_000)
    held_out = np.concatenate(
        [rng.normal(-3, 1, n_anomalies), rng.normal(3, 1, 20_000 - n_anomalies)]
    )
    # the smallest of 96 ratios, some of them of only a thousand rows
    assert choosing.share_like(held_out, broken) == pytest.approx(share, abs=0.05)


def test_anomalies_among_the_rows_do_not_count(rows):
    rng = np.random.default_rng(1)
    spoilt = np.concatenate([rows, rng.permuted(rows[:100], axis=0)])
    clean, mixed = (
        setatoms.choose_parameters(X, sparse_cones(n_nonzero=2), {}).candidates[0].aucs.mean()
        for X in (rows, spoilt)
    )
    assert clean > 0.98
    # told from a quarter of their own kind, broken rows would bring 0.99 down to 0.87
    assert mixed > 0.93


def test_given_atoms_keep_their_number(rows):
    atoms = np.eye(rows.shape[1])
    detector = sparse_cones(init=atoms, n_atoms=len(atoms))
    choice = setatoms.choose_parameters(rows, detector, n_trials=2)
    assert not any("n_atoms" in candidate.parameters for candidate in choice.candidates)
    assert len(choice.candidates) > 1


def test_broken_rows_keep_their_columns_and_lose_their_relations(rows):
    (trial,) = choosing._draw_trials(rows, 1, 150, np.random.default_rng(0))
    assert len(trial.held_out) == 38
    assert len(trial.train) == 112
    np.testing.assert_array_equal(np.sort(trial.broken, axis=0), np.sort(trial.held_out, axis=0))
    strength = [np.abs(np.corrcoef(part.T)).mean() for part in (trial.held_out, trial.broken)]
    assert strength[1] < strength[0]


def test_the_choice_is_the_same_for_any_number_of_threads(rows):
    one, two = (
        setatoms.choose_parameters(
            rows, setatoms.SetAtomEnsemble(n_iter=10, n_jobs=n_jobs, random_state=1), n_trials=2
        )
        for n_jobs in (1, 3)
    )
    assert one.parameters == two.parameters
    for here, there in zip(one.candidates, two.candidates, strict=True):
        np.testing.assert_array_equal(here.aucs, there.aucs)


def test_gaps_are_filled_in_trials_too(rows):
    X = rows.copy()
    X[::5, 2] = np.nan
    choice = setatoms.choose_parameters(X, sparse_cones(missing="fill"), {"n_nonzero": [2]})
    assert choice.parameters == {"n_nonzero": 2}


def test_cones_without_room_are_passed_over_and_said_to_be(rows, monkeypatch):
    learn = setatoms.ConeAtomDetector._learn

    def refuse(self, *arguments):
        if self.n_nonzero == 3:
            raise InfeasibleConesError("no room")
        return learn(self, *arguments)

    monkeypatch.setattr(setatoms.ConeAtomDetector, "_learn", refuse)
    choice = setatoms.choose_parameters(rows, sparse_cones(), {"n_nonzero": [3, 2]})
    assert choice.parameters == {"n_nonzero": 2}
    assert [c.trouble for c in choice.candidates] == ["", "no room", ""]


def test_progress_comes_to_its_end(rows, monkeypatch):
    shares = []
    advance = Progress.advance

    def watch(self, amount=1.0, note=""):
        advance(self, amount, note)
        shares.append(self.share)

    monkeypatch.setattr(Progress, "advance", watch)
    setatoms.choose_parameters(rows, sparse_cones(), {"n_nonzero": [2]}, n_trials=2)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_trials": 1}, "n_trials=1 must be at least 2"),
        ({"max_rows": 5}, "max_rows=5 must be at least 30"),
        ({"grid": {"n_atom": [3.0]}}, "grid has 'n_atom', which ConeAtomDetector does not"),
        ({"grid": {"n_nonzero": [0]}}, "n_nonzero=0 must be a whole number"),
        ({"grid": {"radii": [(0.2, 0.1)]}}, "radii"),
        ({"detector": sparse_cones(n_nonzero=0)}, "n_nonzero=0 must be"),
        ({"X": np.eye(20)}, "X has 20 rows, too few to hold some out; give at least 30"),
    ],
)
def test_wrong_arguments_are_explained(arguments, message, rows):
    with pytest.raises(ValueError, match=message):
        setatoms.choose_parameters(**{"X": rows, "detector": sparse_cones(), **arguments})


def test_other_detectors_are_refused(rows):
    with pytest.raises(TypeError, match="no detector of setatoms; give one"):
        setatoms.choose_parameters(rows, setatoms.ConeDictionaryLearning())
