"""Rows of explanations and counterfactuals: by position and by label."""

import numpy as np
import pandas as pd
import polars as pl
import pytest


@pytest.fixture(scope="module", params=["explain", "counterfactual"])
def ask(request):
    """Return the name of a method whose result has one part per row."""
    return request.param


def labels_of(found):
    return list(found.index)


@pytest.fixture
def labelled(frame):
    """Return eight rows with labels of their own, one of them twice."""
    return frame[:8].set_axis(["a", "b", "c", "d", "e", "f", "g", "a"])


def test_the_frame_s_own_index_is_kept(detector, labelled, ask):
    found = getattr(detector, ask)(labelled)
    assert found.index.equals(labelled.index)
    assert set(found.frame.index) == set(labelled.index)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (3, ["d"]),
        (-1, ["a"]),
        (slice(1, 4), ["b", "c", "d"]),
        ([4, 1], ["e", "b"]),
        (np.arange(8) > 5, ["g", "a"]),
        ([], []),
    ],
)
def test_positions_choose_as_in_a_list(detector, labelled, ask, key, expected):
    assert labels_of(getattr(detector, ask)(labelled)[key]) == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [("c", ["c"]), ("a", ["a", "a"]), (["e", "b"], ["e", "b"]), (slice("c", "e"), ["c", "d", "e"])],
)
def test_labels_choose_as_in_pandas(detector, labelled, ask, key, expected):
    assert labels_of(getattr(detector, ask)(labelled).loc[key]) == expected


def test_what_is_chosen_says_the_same_of_its_rows(detector, labelled):
    whole, part = detector.explain(labelled), detector.explain(labelled)[2:5]
    assert part.records == whole.records[2:5]
    assert part.sentences == [each.sentences[0] for each in part]
    found = detector.counterfactual(labelled, k=2)
    np.testing.assert_array_equal(found.loc["d"].rows, found.rows[[3]])
    assert found[3].columns == [found.columns[3]]
    assert found[3].replaced(0) == found.replaced(3)
    np.testing.assert_array_equal(found.frame.to_numpy(), found.rows)


def test_dates_choose_by_their_parts(detector, frame, ask):
    days = pd.date_range("2024-02-28", periods=len(frame), freq="D")
    found = getattr(detector, ask)(frame.set_axis(days))
    assert len(found.loc["2024-02"]) == 2


@pytest.mark.parametrize("kind", [np.asarray, lambda X: pl.DataFrame(X.to_dict("list"))])
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_rows_without_labels_go_by_their_numbers(detector, frame, ask, kind):
    found = getattr(detector, ask)(kind(frame[:6]))
    assert labels_of(found[2:].loc[[5, 3]]) == [5, 3]
    with pytest.raises(KeyError, match="no row is labelled 1"):
        found[2:].loc[1]


def test_wrong_keys_are_named(detector, labelled, ask):
    found = getattr(detector, ask)(labelled)
    with pytest.raises(IndexError, match="row 8 of 8 rows does not exist"):
        found[8]
    with pytest.raises(IndexError, match=r"'c' gives no positions; labels go to \.loc"):
        found["c"]
    with pytest.raises(IndexError, match="one dimension"):
        found[None]
    with pytest.raises(KeyError):
        found.loc["z"]


def test_a_later_change_of_the_table_does_not_reach_the_counterfactual(detector, rows):
    table = rows[:3].copy()
    with pytest.warns(UserWarning, match="feature names"):
        found = detector.counterfactual(table)
    table[:] = 0.0
    assert (found.given != 0).all()
