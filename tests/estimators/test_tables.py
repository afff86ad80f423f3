"""What happens to tables that are not tables of finite numbers."""

from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import setatoms
from setatoms import VectorAtomDetector
from setatoms.datasets import make_dependency_anomalies
from setatoms.estimators.tables import name_columns

FRAMES = [pd.DataFrame, pl.DataFrame]
NAMES = ["age", "dose", "rate", "mass", "site", "heat"]


@pytest.fixture
def detector():
    return VectorAtomDetector(n_atoms=6, random_state=0)


def fit_and_score_errors(detector, rows, bad):
    """Return the messages of the errors that `bad` causes in fit and in score_samples."""
    messages = []
    for call in (detector.fit, detector.fit(rows).score_samples):
        with pytest.raises(ValueError) as caught:  # noqa: PT011 - the caller looks at the message
            call(bad)
        messages.append(str(caught.value))
    return messages


def test_nan_is_refused_with_columns_and_rows(detector, rows):
    bad = rows.copy()
    bad[3, 1] = bad[3, 4] = bad[8, 4] = np.nan
    for message in fit_and_score_errors(detector, rows, bad):
        assert "Input X contains NaN in columns 1, 4, counted from 0 (2 rows)" in message


def test_infinity_is_refused_with_columns_and_rows(detector, rows):
    bad = rows.copy()
    bad[0, 2] = np.inf
    bad[5, 0] = np.nan
    for message in fit_and_score_errors(detector, rows, bad):
        assert "NaN in column 0, counted from 0 (1 row)" in message
        assert (
            "infinity or a value too large for dtype('float64') in column 2, counted from 0 (1 row)"
            in message
        )


@pytest.mark.parametrize("frame", FRAMES)
def test_columns_of_frames_are_called_by_name(frame, detector, rows):
    bad = rows.copy()
    bad[3, 1] = np.nan
    good, bad = (frame(dict(zip(NAMES, table.T, strict=True))) for table in (rows, bad))
    for message in fit_and_score_errors(detector, good, bad):
        assert "NaN in column 'dose' (1 row)" in message


@pytest.mark.parametrize("frame", FRAMES)
def test_missing_values_of_frames_count_as_nan(frame, detector, rows):
    columns = dict(zip(NAMES, rows.T.tolist(), strict=True))
    columns["rate"][4] = None
    with pytest.raises(ValueError, match=r"NaN in column 'rate' \(1 row\)"):
        detector.fit(frame(columns))


def test_missing_values_of_nullable_columns_count_as_nan(detector, rows):
    frame = pd.DataFrame(rows, columns=NAMES).round().astype("Int64")
    frame.loc[4, "rate"] = pd.NA
    with pytest.raises(ValueError, match=r"NaN in column 'rate' \(1 row\)"):
        detector.fit(frame)


@pytest.mark.parametrize("frame", FRAMES)
def test_text_columns_are_named(frame, detector, rows):
    columns = dict(zip(NAMES, rows.T.tolist(), strict=True))
    columns["site"] = ["north"] * len(rows)
    columns["age"] = [str(value) for value in columns["age"]]
    with pytest.raises(ValueError, match="text or times in columns 'age', 'site'; drop"):
        detector.fit(frame(columns))


def test_mixed_columns_are_named(detector, rows):
    bad = rows.astype(object)
    bad[7, 2] = "high"
    for message in fit_and_score_errors(detector, rows, bad):
        assert "text or times in column 2" in message
    with pytest.raises(ValueError, match="text or times in column 2"):
        detector.fit(bad.tolist())


@pytest.mark.parametrize("frame", FRAMES)
def test_columns_of_times_are_named(frame, detector, rows):
    columns = dict(zip(NAMES, rows.T.tolist(), strict=True))
    columns["site"] = [datetime(2020, 1, 1)] * len(rows)
    with pytest.raises(ValueError, match="times in column 'site'"):
        detector.fit(frame(columns))


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_a_table_of_times_is_refused(unit, detector):
    times = np.arange(600).reshape(100, 6).astype(f"datetime64[{unit}]")
    with pytest.raises(ValueError, match="times in columns 0, 1"):
        detector.fit(times)


def test_values_that_are_no_numbers_are_named(detector, rows):
    bad = rows.astype(object)
    bad[0, 3] = {"a": 1}
    with pytest.raises(TypeError, match="not numbers in column 3"):
        detector.fit(bad)


def test_object_columns_of_numbers_work(detector, rows):
    expected = detector.fit(rows).score_samples(rows)
    np.testing.assert_array_equal(detector.score_samples(rows.astype(object)), expected)
    np.testing.assert_array_equal(detector.fit(rows.astype(object)).score_samples(rows), expected)


def test_one_feature_is_refused(detector, rows):
    with pytest.raises(ValueError, match=r"1 feature\(s\)"):
        detector.fit(rows[:, :1])


def test_one_row_is_refused(detector, rows):
    with pytest.raises(ValueError, match=r"1 sample\(s\)"):
        detector.fit(rows[:1])


def test_scoring_zero_rows_is_refused(detector, rows):
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        detector.fit(rows).score_samples(rows[:0])


@pytest.mark.parametrize("frame", FRAMES)
def test_columns_in_another_order_are_refused(frame, detector, rows):
    columns = dict(zip(NAMES, rows.T, strict=True))
    detector.fit(frame(columns))
    with pytest.raises(ValueError, match="same order"):
        detector.predict(frame(dict(reversed(columns.items()))))


def test_other_columns_are_refused(detector, rows):
    detector.fit(pd.DataFrame(rows, columns=NAMES))
    with pytest.raises(ValueError, match="unseen at fit time"):
        detector.predict(pd.DataFrame(rows, columns=[*NAMES[:-1], "new"]))
    with pytest.raises(ValueError, match="expecting 6 features"):
        detector.fit(rows).predict(rows[:, :5])


def test_long_lists_of_columns_are_cut():
    assert name_columns(None, range(8)) == "columns 0, 1, 2, 3, 4 and 3 more, counted from 0"
    assert name_columns(["a", "b"], [1]) == "column 'b'"


def test_what_is_masked_is_missing(rows):
    mask = np.random.default_rng(0).random(rows.shape) < 0.1
    spoilt = np.where(mask, 1e6, rows)
    masked = np.ma.array(spoilt, mask=mask)
    holed = np.where(mask, np.nan, rows)
    fill = VectorAtomDetector(n_atoms=6, random_state=0, missing="fill")
    expected = clone(fill).fit(holed).score_samples(holed)
    np.testing.assert_array_equal(fill.fit(masked).score_samples(masked), expected)
    np.testing.assert_array_equal(fill.impute(masked), fill.impute(holed))


@pytest.mark.parametrize("dtype", [int, np.float32, object])
def test_what_is_masked_is_refused_where_nan_is(dtype, detector, rows):
    masked = np.ma.array((10 * rows).astype(dtype), mask=rows > 8)
    for message in fit_and_score_errors(detector, rows, masked):
        assert "Input X contains NaN in column" in message


def test_coders_and_generators_refuse_what_is_masked(rows):
    masked = np.ma.array(rows, mask=rows > 8)
    atoms = np.eye(6)
    for act in (
        lambda: setatoms.omp(masked, atoms, n_nonzero=2),
        lambda: setatoms.cone_omp(masked, atoms, np.full(6, 0.1)),
        lambda: setatoms.gauss_l1(masked, atoms, np.full(6, 0.1)),
        lambda: setatoms.aksvd(masked, 6, n_nonzero=2),
        lambda: make_dependency_anomalies(masked, random_state=0),
    ):
        with pytest.raises(ValueError, match="NaN"):
            act()
