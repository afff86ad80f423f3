"""What holds for every estimator, whichever its atoms."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import setatoms
from setatoms.progress import Progress

SINGLE = ["ConeAtomDetector", "GaussianAtomDetector", "VectorAtomDetector"]
DETECTORS = [*SINGLE, "SetAtomEnsemble"]
TRANSFORMERS = ["ConeDictionaryLearning", "GaussianDictionaryLearning"]
ESTIMATORS = [*DETECTORS, *TRANSFORMERS]


def make_rows(n_samples=1200, seed=3):
    """Return rows (n_samples, 5) with two hidden causes."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n_samples, 2)) @ rng.normal(size=(2, 5))
    return causes + 0.2 * rng.normal(size=(n_samples, 5))


def make(name, **parameters):
    """Return an estimator that learns for a few iterations."""
    few = {"n_members": 3} if name == "SetAtomEnsemble" else {}
    return getattr(setatoms, name)(**{"n_iter": 20, "random_state": 0, **few, **parameters})


def learned(model):
    """Return the atoms and radii of a model, of all its members if it has any."""
    members = getattr(model, "members_", None)
    if members is None:
        return [model.components_, model.radii_]
    return [part for member in members for part in (member.atoms, member.radii)]


def output(model, X):
    """Return what a model says about each row."""
    return model.score_samples(X) if hasattr(model, "score_samples") else model.transform(X)


@pytest.fixture(scope="module")
def rows():
    return make_rows()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_same_seed_same_model_for_any_thread_count(name, rows):
    one, two = (make(name, n_jobs=n_jobs).fit(rows) for n_jobs in (1, 2))
    for here, there in zip(learned(one), learned(two), strict=True):
        np.testing.assert_array_equal(here, there)
    np.testing.assert_array_equal(output(one, rows), output(two, rows))
    if name in DETECTORS:
        assert one.offset_ == two.offset_


# Prints the bytes of each model, for comparison with those made in this process.
_SCRIPT = """
import sys, setatoms
sys.path.insert(0, sys.argv[1])
from test_detectors import ESTIMATORS, digest, make, make_rows
print(*(digest(make(name, n_jobs=2).fit(make_rows())) for name in ESTIMATORS))
"""


def digest(model):
    """Return the bits of a model as text."""
    numbers = [*learned(model), getattr(model, "offset_", 0.0)]
    return b"".join(np.asarray(part).tobytes() for part in numbers).hex()


def test_same_seed_same_model_in_another_process(rows, request):
    here = [digest(make(name, n_jobs=1).fit(rows)) for name in ESTIMATORS]
    command = [sys.executable, "-c", _SCRIPT, str(request.path.parent)]
    there = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert here == there


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_a_model_says_of_a_row_does_not_depend_on_the_batch(name, rows):
    model = make(name).fit(rows)
    whole = output(model, rows)
    order = np.random.default_rng(0).permutation(len(rows))
    # relative to the row's norm, as rows that are represented almost exactly have tiny errors
    tolerance = 1e-10 * np.linalg.norm(rows, axis=1)
    for rows_at_a_time in (1, 7, 600):
        chunks = [order[i : i + rows_at_a_time] for i in range(0, 300, rows_at_a_time)]
        for chunk in chunks:
            gap = np.abs(output(model, rows[chunk]) - whole[chunk])
            assert (gap.reshape(len(chunk), -1).max(axis=1) <= tolerance[chunk]).all()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_refit_forgets_the_past(name, rows):
    other = pd.DataFrame(make_rows(seed=5)[:, :4], columns=list("abcd"))
    model = make(name).fit(other).fit(rows)
    fresh = make(name).fit(rows)
    assert vars(model).keys() == vars(fresh).keys()
    np.testing.assert_array_equal(output(model, rows), output(fresh, rows))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_scoring_never_writes_to_the_model(name, rows):
    model = make(name).fit(rows)
    before = pickle.dumps(model)
    output(model, rows)
    if name in DETECTORS:
        model.predict(rows)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("share", [0.0, 0.5, 0.95])
def test_an_interrupted_fit_leaves_the_estimator_as_it_was(name, share, rows, monkeypatch):
    fitted, unfitted = make(name).fit(rows), make(name)
    before = pickle.dumps(fitted)
    _interrupt_after(share, monkeypatch)
    for model in (fitted, unfitted):
        with pytest.raises(KeyboardInterrupt):
            model.fit(pd.DataFrame(rows[:, :4], columns=list("abcd")))
    assert pickle.dumps(fitted) == before
    assert vars(unfitted).keys() == unfitted.get_params().keys()
    with pytest.raises(NotFittedError):
        output(unfitted, rows)


def _interrupt_after(share, monkeypatch):
    """Make every fit raise KeyboardInterrupt once that share of its steps is done."""

    def advance(self, amount=1.0, note=""):
        self._done += amount
        if self.share > share:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "advance", advance)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_model_used_before_fit_says_so(name, rows):
    with pytest.raises(NotFittedError):
        output(make(name), rows)


@pytest.mark.parametrize("name", [*SINGLE, *TRANSFORMERS])
def test_clone_keeps_parameters_and_forgets_the_fit(name, rows):
    model = make(name, n_atoms=7, init=np.eye(7, 5) + 0.1).fit(rows)
    copy = clone(model)
    assert copy.get_params()["n_atoms"] == 7
    np.testing.assert_array_equal(copy.init, model.init)
    assert not hasattr(copy, "components_")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_pickled_model_says_the_same(name, rows):
    model = make(name).fit(rows)
    restored = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(output(restored, rows), output(model, rows))


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_give_the_same_as_arrays_and_keep_names(name, frame, rows):
    names = ["a", "b", "c", "d", "e"]
    table = frame(dict(zip(names, rows.T, strict=True)))
    model = make(name).fit(table)
    assert list(model.feature_names_in_) == names
    np.testing.assert_array_equal(output(model, table), output(make(name).fit(rows), rows))


@pytest.mark.parametrize("name", DETECTORS)
def test_the_dictionary_does_not_depend_on_the_threshold(name, rows):
    auto, share = make(name).fit(rows), make(name, contamination=0.1).fit(rows)
    for here, there in zip(learned(auto), learned(share), strict=True):
        np.testing.assert_array_equal(here, there)
    assert np.sum(share.predict(rows) == -1) == 120


@pytest.mark.parametrize("name", SINGLE)
def test_scores_of_the_relation_are_errors_per_feature_and_decisions_their_distance(name, rows):
    model = make(name, views=("relation",)).fit(rows)
    Z = model.standardizer_.apply(rows)
    errors = model.dictionary_.errors(Z)
    np.testing.assert_array_equal(model.score_samples(rows), -errors / np.sqrt(5))
    decision = model.decision_function(rows)
    np.testing.assert_array_equal(decision, model.score_samples(rows) - model.offset_)
    np.testing.assert_array_equal(model.predict(rows) == -1, decision < 0)


@pytest.mark.parametrize("name", DETECTORS)
def test_broken_relations_score_worse_than_normal_rows(name, rows):
    model = make(name).fit(rows)
    rng = np.random.default_rng(0)
    broken = np.column_stack([rng.permutation(column) for column in rows.T])
    assert np.mean(model.predict(broken) == -1) > 0.5
    assert np.mean(model.predict(make_rows()) == -1) < 0.1


@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.filterwarnings("ignore:.*rows per atom", "ignore:X is constant")
def test_degenerate_tables_give_finite_scores(name):
    zeros, duplicates = np.zeros((30, 4)), np.tile([[1.0, 2.0, 3.0, 4.0]], (30, 1))
    two_rows = np.array([[0.0, 1.0, 2.0, 3.0], [3.0, 1.0, 0.0, 2.0]])
    for table in (zeros, duplicates, two_rows, make_rows(3)[:, :4]):
        model = make(name).fit(table)
        assert np.isfinite(model.score_samples(table)).all()
        assert np.isfinite(model.offset_)


@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.parametrize("standardize", [True, False])
def test_extreme_rows_are_finite_outliers(name, standardize, rows):
    model = make(name, standardize=standardize).fit(rows)
    extreme = np.array([[1e300, -1e300, 1e300, 1e300, 1e300], [1.7e308, 0, 0, 0, -1.7e308]])
    extreme = np.vstack([extreme, 1e-300 * extreme, np.zeros((1, 5))])
    scores = model.score_samples(extreme)
    assert np.isfinite(scores).all()
    assert (model.predict(extreme[:2]) == -1).all()
