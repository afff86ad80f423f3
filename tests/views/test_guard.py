"""No anomaly passes because it is of another kind, and none gets better by getting worse."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes

import setatoms
from setatoms.views.calibration import Calibration
from setatoms.views.guard import BEYOND, combine_groups

DETECTORS = ["SetAtomEnsemble", "GaussianAtomDetector", "ConeAtomDetector", "VectorAtomDetector"]
pytestmark = pytest.mark.filterwarnings("ignore:.*rows per atom")
ABSURD = st.floats(1.0, 1e12) | st.sampled_from([1e100, 1e200, 1e300])


def make(name, **parameters):
    """Return a detector that learns for a few iterations."""
    few = {"n_members": 4} if name == "SetAtomEnsemble" else {}
    return getattr(setatoms, name)(**{"n_iter": 10, "random_state": 0, **few, **parameters})


@pytest.fixture(scope="module")
def table():
    """Return a real table with names."""
    return load_diabetes(as_frame=True, scaled=False).data


@pytest.fixture(scope="module")
def models(table):
    """Return every detector, fitted on most of the rows."""
    return {name: make(name).fit(table[:340]) for name in DETECTORS}


@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.parametrize("value", [25000.0, -9999.0, 1e300, -1e300])
def test_an_absurd_value_is_flagged_and_named(name, models, table, value):
    rows = table[340:].copy()
    rows["bmi"] = value
    model = models[name]
    assert (model.predict(rows) == -1).all()
    assert np.isfinite(model.score_samples(rows)).all()
    explanation = model.explain(rows, top=1)
    assert {record["columns"][0]["column"] for record in explanation.records} == {"bmi"}
    assert set(explanation.kinds) == {"extreme value"}
    expected = np.array([record["columns"][0]["expected"] for record in explanation.records])
    # within two standard deviations of the truth, as a rule
    off = np.abs(expected - table["bmi"][340:]) / table["bmi"].std()
    assert np.mean(off < 2) > 0.9


@pytest.mark.parametrize("name", DETECTORS)
def test_a_row_that_is_far_out_as_a_whole_is_flagged(name, models, table):
    centre = table.mean()
    for times in (8, 100, 1e6):
        rows = centre + times * (table[340:] - centre)
        assert (models[name].predict(rows) == -1).all()
        assert set(models[name].explain(rows).kinds) <= {"far out", "extreme value"}


@pytest.mark.parametrize("name", DETECTORS)
@settings(max_examples=60, deadline=None)
@given(
    row=st.integers(340, 441),
    columns=st.sets(st.integers(0, 9), min_size=1),
    sign=st.sampled_from([-1.0, 1.0]),
    far=ABSURD,
    further=st.floats(1.0, 1e3),
)
def test_moving_a_row_further_out_never_lowers_its_score(
    name, models, table, row, columns, sign, far, further
):
    model = models[name]
    guard, standardizer = model.guard_, model.standardizer_
    at = sorted(columns)
    inside = standardizer.apply(table.to_numpy(np.float64)[row : row + 1])
    edge = (guard.high if sign > 0 else guard.low)[at]
    scores = []
    for distance in (far, far * further):
        moved = inside.copy()
        moved[:, at] = edge + sign * distance
        rows = pd.DataFrame(standardizer.restore(moved), columns=table.columns)
        scores.append(-model.score_samples(rows)[0])
    assert scores[1] >= scores[0] > -model.offset_


@pytest.mark.parametrize("name", DETECTORS)
@settings(max_examples=60, deadline=None)
@given(row=st.integers(0, 441), times=st.floats(1.0, 1e6), further=st.floats(1.0, 1e3))
def test_moving_a_row_away_from_the_centre_never_lowers_its_score(
    name, models, table, row, times, further
):
    model = models[name]
    mean = model.standardizer_.mean
    away = table.to_numpy(np.float64)[row : row + 1] - mean
    rows = [pd.DataFrame(mean + t * away, columns=table.columns) for t in (times, times * further)]
    near, far = (-model.score_samples(moved)[0] for moved in rows)
    beyond = model.guard_.bring_inside(model.standardizer_.apply(rows[0].to_numpy()))
    if beyond.excess.sum() >= BEYOND:
        assert far >= near


@pytest.fixture(scope="module")
def of_one_view(table):
    """Return every detector that looks at relations alone."""
    return {name: make(name, views=("relation",)).fit(table[:340]) for name in DETECTORS}


@pytest.mark.parametrize("name", DETECTORS)
@settings(max_examples=25, deadline=None)
@given(size=st.integers(1, 20), start=st.integers(0, 400))
def test_scores_do_not_depend_on_the_batch(name, models, of_one_view, table, size, start):
    for model in (models[name], of_one_view[name]):
        whole = model.score_samples(table)
        part = model.score_samples(table[start : start + size])
        np.testing.assert_array_equal(part, whole[start : start + size])


@pytest.mark.parametrize("name", DETECTORS)
def test_a_constant_column_that_changes_is_flagged_and_named(name, table):
    training = table[:340].assign(valve=3.0)
    with pytest.warns(UserWarning, match="constant in column 'valve'"):
        model = make(name).fit(training)
    rows = table[340:].assign(valve=3.0)
    assert np.mean(model.predict(rows) == -1) < 0.2
    assert (model.predict(rows.assign(valve=3.5)) == -1).all()
    sentence = model.explain(rows.assign(valve=3.5)).sentences[0]
    assert sentence.startswith("valve 3.5: only value seen 3")


@pytest.mark.parametrize("name", DETECTORS)
def test_faults_among_the_training_rows_do_not_become_a_pattern(name, table):
    X = table.to_numpy(np.float64).copy()
    X[:20, 2] = -9999
    model = make(name).fit(X)
    assert model.n_screened_ >= 20
    assert (model.predict(X[:20]) == -1).all()
    assert set(model.explain(X[:20]).kinds) == {"extreme value"}
    assert np.mean(model.predict(X[20:]) == -1) < 0.15


@pytest.mark.parametrize("name", DETECTORS)
def test_a_group_of_rows_far_from_the_others_is_called_so(name, table):
    X = table.to_numpy(np.float64).copy()
    rng = np.random.default_rng(0)
    X[:20] = X.mean(axis=0) + X.std(axis=0) * (5 + 0.05 * rng.normal(size=(20, 10)))
    model = make(name).fit(X)
    assert set(model.explain(X[:20]).kinds) == {"small group"}
    assert "small group" not in model.explain(X[20:]).kinds


@pytest.mark.parametrize("name", DETECTORS)
def test_the_relation_alone_neither_screens_nor_guards(name, table):
    X = table.to_numpy(np.float64).copy()
    X[:20, 2] = -9999
    model = make(name, views=("relation",)).fit(X)
    assert model.guard_ is None
    assert model.n_screened_ == 0
    assert model.explain(X[:1]).kinds == [""]


@pytest.mark.parametrize("views", ["relation", (), ("size", "size"), ("scale",), None, 3])
def test_unknown_views_are_refused(views, table):
    with pytest.raises(ValueError, match=r"views=.* must be a tuple of at least one of 'relation'"):
        make("VectorAtomDetector", views=views).fit(table)


@pytest.mark.parametrize("views", [("size",), ("rarity", "relation"), ["size", "rarity"]])
def test_any_choice_of_views_scores_and_saves(views, table, tmp_path):
    model = make("ConeAtomDetector", views=views).fit(table)
    parts = model.explain(table[:5]).records[0]["views"]
    assert {name for name, part in parts.items() if part > 0} <= set(views)
    model.save(tmp_path / "model")
    again = setatoms.load(tmp_path / "model")
    np.testing.assert_array_equal(again.score_samples(table), model.score_samples(table))


def test_parts_add_up_to_the_score_inside_and_outside(table):
    model = make("ConeAtomDetector").fit(table)
    rows = table.iloc[[0] * 5].astype(np.float64)
    rows[rows.columns[1]] += np.ptp(table.iloc[:, 1]) * np.array([0.0, 1.0, 2.0, 10.0, 1e9])
    parts = [record["views"] for record in model.explain(rows).records]
    # by rounding: of numbers below 100 that are sums of four
    np.testing.assert_allclose(
        [sum(each.values()) for each in parts], -model.score_samples(rows), rtol=1e-12
    )
    outside = [each["outside"] for each in parts]
    assert outside[0] == 0
    assert outside[4] > outside[3] > 0


def test_no_kind_of_members_can_be_outvoted():
    z = np.array([[0.0, 9.0], [0.0, 9.0], [5.0, 1.0], [5.0, 1.0]])
    assert combine_groups(z, ["a", "a", "b", "b"]).tolist() == [2.5, 5.0]


def test_a_third_of_anomalies_does_not_stretch_the_scale():
    rng = np.random.default_rng(0)
    normal = rng.normal(size=700)
    mixed = np.concatenate([normal, rng.normal(9, 1, size=300)])
    clean, stretched = (Calibration.learn(values[None]) for values in (normal, mixed))
    assert clean.spread[0] == pytest.approx(1.0, abs=0.1)
    assert (mixed[700:].mean() - stretched.middle[0]) / stretched.spread[0] > 1.5


@pytest.mark.parametrize("seed", [0, 1])
def test_with_few_columns_a_value_far_out_is_above_all_ordinary_rows(seed):
    rng = np.random.default_rng(seed)
    flow, other = rng.normal(size=(2, 3000))
    X = np.column_stack([flow, 2 * flow + 0.1 * rng.normal(size=3000), other])
    detector = setatoms.SetAtomEnsemble(random_state=seed).fit(X[:1500])
    odd = X[:1] + np.array([0.0, 0.0, 8.0])
    assert detector.predict(odd) == -1
    assert detector.score_samples(odd) < detector.score_samples(X[1500:]).min()
    assert 0.01 < (detector.predict(X[1500:]) == -1).mean() < 0.08
