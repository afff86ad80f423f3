"""Tables with missing values, from `fit` to `impute`."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.utils import get_tags

import setatoms

DETECTORS = ["ConeAtomDetector", "GaussianAtomDetector", "VectorAtomDetector"]
TRANSFORMERS = ["ConeDictionaryLearning", "GaussianDictionaryLearning"]
ESTIMATORS = [*DETECTORS, *TRANSFORMERS]


def make(name, **parameters):
    """Return an estimator that fills and learns for a few iterations."""
    return getattr(setatoms, name)(
        **{"n_iter": 15, "random_state": 0, "missing": "fill", **parameters}
    )


def output(model, X):
    """Return what a model says about each row."""
    return model.score_samples(X) if hasattr(model, "score_samples") else model.transform(X)


@pytest.fixture(scope="module")
def rows(rows):
    """Return the normal rows in standard units, as transformers want them."""
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


@pytest.fixture(scope="module")
def holed(rows):
    """Return the rows with 15 % of their values missing, the first one whole."""
    holes = np.random.default_rng(0).random(rows.shape) < 0.15
    holes[0] = False
    return np.where(holes, np.nan, rows)


@pytest.fixture(scope="module")
def models(holed):
    """Return every estimator, fitted to the rows with missing values."""
    return {name: make(name, n_atoms=12).fit(holed) for name in ESTIMATORS}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_whole_tables_give_the_same_bits_either_way(name, rows):
    strict, filling = (make(name, missing=missing).fit(rows) for missing in ("error", "fill"))
    np.testing.assert_array_equal(filling.components_, strict.components_)
    np.testing.assert_array_equal(output(filling, rows), output(strict, rows))
    assert getattr(filling, "offset_", 0) == getattr(strict, "offset_", 0)


@pytest.mark.parametrize("name", DETECTORS)
def test_scores_of_the_relation_count_observed_entries_alone(name, holed):
    model = make(name, n_atoms=12, views=("relation",)).fit(holed)
    (signals,) = model._completed(model.standardizer_.apply(holed), "signals")
    codes = model.dictionary_.code(signals)
    observed = ~np.isnan(holed)
    errors = np.linalg.norm(np.where(observed, codes.residuals, 0.0), axis=1)
    expected = -errors / np.sqrt(np.maximum(observed.sum(axis=1), 1))
    # two orders of summation
    np.testing.assert_allclose(model.score_samples(holed), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", DETECTORS)
def test_filled_values_are_nearer_than_the_mean(name, models, rows, holed):
    holes = np.isnan(holed)
    filled = models[name].impute(holed)
    np.testing.assert_array_equal(filled[~holes], holed[~holes])
    ours, mean = (guess - rows for guess in (filled, np.nanmean(holed, axis=0)))
    assert np.sqrt(np.mean(ours[holes] ** 2)) < 0.8 * np.sqrt(np.mean(mean[holes] ** 2))


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers_write_codes_of_filled_rows(name, models, holed):
    model = models[name]
    filled, holes = model.impute(holed), np.isnan(holed)
    np.testing.assert_array_equal(filled[~holes], holed[~holes])
    assert np.isfinite(model.transform(holed)).all()
    # what greedy codes represent is a tenth above what they fill
    near = np.abs(model.reconstruct(holed) - filled)[holes] <= 0.11 * np.abs(filled[holes]) + 0.05
    assert near.mean() > 0.95


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_is_said_of_a_row_with_gaps_does_not_depend_on_batch_or_threads(name, models, holed):
    model = models[name]
    whole, filled = output(model, holed), model.impute(holed)
    # relative to the row's norm, as rows that are represented almost exactly have tiny errors
    tolerance = 1e-10 * np.linalg.norm(np.nan_to_num(holed), axis=1)
    for start in range(0, 70, 7):
        part = slice(start, start + 7)
        gap = np.abs(output(model, holed[part]) - whole[part]).reshape(7, -1).max(axis=1)
        assert (gap <= tolerance[part]).all()
    alone = pickle.loads(pickle.dumps(model)).set_params(n_jobs=1)
    np.testing.assert_array_equal(output(alone, holed), whole)
    np.testing.assert_array_equal(alone.impute(holed), filled)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_same_seed_same_model_for_any_thread_count_and_the_table_is_not_changed(name, holed):
    before = holed.copy()
    one, two = (make(name, n_atoms=12, n_jobs=n_jobs).fit(holed) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.components_, two.components_)
    assert getattr(one, "offset_", 0) == getattr(two, "offset_", 0)
    np.testing.assert_array_equal(holed, before)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_rows_without_any_value_are_ignored_by_fit_and_unsuspicious_later(name, models, holed):
    empty = np.full((2, holed.shape[1]), np.nan)
    with pytest.warns(UserWarning, match="no value at all in 2 of 302 rows"):
        model = make(name, n_atoms=12).fit(np.vstack([holed, empty]))
    np.testing.assert_array_equal(model.components_, models[name].components_)
    if name not in DETECTORS:
        assert (np.asarray(output(model, empty)) == 0).all()
    else:
        assert (output(model, empty) > np.median(output(model, holed))).all()
        np.testing.assert_allclose(model.impute(empty)[0], np.nanmean(holed, axis=0), atol=1e-9)
        assert (model.predict(empty) == 1).all()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_columns_and_tables_without_any_value_are_named(name, holed):
    frame = pd.DataFrame(holed).rename(columns=str).assign(nothing=np.nan)
    with pytest.raises(ValueError, match="no value at all in column 'nothing'; drop"):
        make(name).fit(frame)
    lonely = np.full((5, 3), np.nan)
    lonely[2] = 1.0
    with pytest.raises(ValueError, match="no value at all in 4 of 5 rows"):
        make(name).fit(lonely)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_nan_is_an_error_by_default_and_infinity_always(name, models, rows, holed):
    strict = make(name, missing="error", n_atoms=12)
    remedy = r"NaN in columns .*; drop or impute these values, or let missing='fill'"
    for act in (strict.fit, strict.fit(rows).impute):
        with pytest.raises(ValueError, match=remedy):
            act(holed)
    infinite = holed.copy()
    infinite[3, 2] = np.inf
    for act in (make(name).fit, models[name].impute):
        with pytest.raises(
            ValueError, match=r"contains infinity .* in column 2, counted from 0 \(1 row\); drop"
        ):
            act(infinite)
    with pytest.raises(ValueError, match="missing='drop' must be 'error' or 'fill'"):
        make(name, missing="drop").fit(rows)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_tag_says_whether_nan_is_accepted(name):
    assert get_tags(make(name)).input_tags.allow_nan
    assert not get_tags(make(name, missing="error")).input_tags.allow_nan


@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.filterwarnings("ignore:X is constant")
def test_sparse_and_constant_columns_keep_their_unit(name, rows, holed):
    rare, fixed = np.full((len(rows), 2), [np.nan, 0.1]).T
    # a single value, so that one of the halves behind contamination="auto" has none
    rare[5], fixed[::3] = 1e6, np.nan
    table = np.column_stack([holed, rare, fixed])
    model = make(name, n_atoms=12).fit(table)
    assert model.standardizer_.mean[-2:].tolist() == [1e6, 0.1]
    assert np.isfinite(model.offset_)
    assert np.isfinite(model.score_samples(table)).all()
    assert (model.calibration_scores_ > -1e3).all()
    # atoms may keep a little of their random start where nothing varies
    np.testing.assert_allclose(model.impute(table)[:, -1], 0.1, atol=0.01)


@pytest.mark.parametrize("name", DETECTORS)
def test_frames_with_nulls_are_read_alike(name, models, holed):
    names = list("abcdef")
    expected = models[name].score_samples(holed)
    columns = dict(zip(names, holed.T, strict=True))
    nulls = {key: [None if np.isnan(v) else v for v in column] for key, column in columns.items()}
    for frame in (
        pd.DataFrame(columns),
        pd.DataFrame(columns).convert_dtypes(),
        pd.DataFrame(nulls, dtype=object),
        pl.DataFrame(nulls),
    ):
        with pytest.warns(UserWarning, match="feature names"):
            np.testing.assert_array_equal(models[name].score_samples(frame), expected)


@pytest.mark.parametrize("name", DETECTORS)
def test_decisions_explanations_and_files_take_rows_with_gaps(name, models, holed, tmp_path):
    model = models[name]
    p_values = model.p_values(holed)
    assert ((p_values > 0) & (p_values <= 1)).all()
    explained = model.explain(holed[:5], top=None).records
    for row, record in zip(holed, explained, strict=False):
        lost = {f"x{j}" for j in np.flatnonzero(np.isnan(row))}
        assert lost == {c["column"] for c in record["columns"] if c["observed"] is None}
        assert all(c["contribution"] == 0 for c in record["columns"] if c["column"] in lost)
    model.save(tmp_path / "model")
    restored = setatoms.load(tmp_path / "model")
    np.testing.assert_array_equal(restored.score_samples(holed), model.score_samples(holed))


@pytest.mark.parametrize("name", DETECTORS)
def test_anomalies_with_gaps_are_found(name, models, rows):
    rng = np.random.default_rng(1)
    normal = np.where(rng.random(rows.shape) < 0.1, np.nan, rows)
    broken = np.column_stack([rng.permutation(column) for column in rows.T])
    broken = np.where(rng.random(rows.shape) < 0.1, np.nan, broken)
    assert np.mean(models[name].predict(broken) == -1) > 0.5
    assert np.mean(models[name].predict(normal) == -1) < 0.12


@pytest.mark.parametrize("name", DETECTORS)
def test_extreme_rows_with_gaps_have_finite_scores(name, models):
    extreme = np.array([[1e300, np.nan, -1e300, 1e300, 0, 1e300], [np.nan, 1.7e308, 0, 0, 0, 0]])
    assert np.isfinite(models[name].score_samples(extreme)).all()
    assert np.isfinite(models[name].impute(extreme)).all()


@pytest.mark.parametrize("kind", ["SetAtomEnsemble", "GaussianAtomDetector", "ConeAtomDetector"])
@pytest.mark.parametrize("n_causes", [1, 2])
def test_rows_with_a_gap_are_flagged_as_often_as_others(kind: str, n_causes: int) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1000, n_causes)) @ rng.normal(size=(n_causes, 5))
    X += 0.15 * rng.normal(size=X.shape)
    rows = rng.choice(1000, 100, replace=False)
    X[rows, rng.integers(5, size=100)] = np.nan
    detector = getattr(setatoms, kind)(missing="fill", random_state=0).fit(X[:700])
    scores = detector.score_samples(X[700:])
    gaps = np.isnan(X[700:]).any(axis=1)
    assert np.mean(scores[gaps] < detector.offset_) < 0.2
    # nor are they told from others at all
    assert 0.25 < roc_auc_score(gaps, -scores) < 0.75
