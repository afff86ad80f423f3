"""Frames as people have them: the same numbers in Python as on the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import setatoms
from setatoms import TableEncoder
from setatoms.cli import main
from setatoms.files import FileError


@pytest.fixture
def frame() -> pd.DataFrame:
    """Return a frame with a column of each kind."""
    n = 60
    rng = np.random.default_rng(0)
    size = rng.normal(10, 2, n).round(3)
    return pd.DataFrame(
        {
            "no": range(1, n + 1),
            "size": size,
            "cost": [f"${1000 * x:,.2f}" for x in size],
            "weight": [f"{2 * x:.1f} kg" if i % 9 else None for i, x in enumerate(size)],
            "ok": ["yes" if i % 3 else "no" for i in range(n)],
            "flag": [bool(i % 2) for i in range(n)],
            "maker": pd.Categorical(["A", "B", "C"] * (n // 3)),
            "day": pd.date_range("2024-01-01", periods=n),
            "note": [f"text {i}" for i in range(n)],
        }
    )


def test_columns_become_numbers_and_notes_say_how(frame: pd.DataFrame) -> None:
    encoder = TableEncoder().fit(frame)
    assert list(encoder.get_feature_names_out()) == ["size", "cost", "weight", "ok", "flag"]
    X = encoder.transform(frame)
    np.testing.assert_allclose(X[:, 1], 1000 * frame["size"], atol=0.006)
    np.testing.assert_array_equal(np.isnan(X[:, 2]), frame["weight"].isna())
    np.testing.assert_array_equal(X[:, 3], frame["ok"] == "yes")
    np.testing.assert_array_equal(X[:, 4], frame["flag"])
    notes = "\n".join(encoder.notes_)
    for note in ("'no': dropped, row numbers", "'day': dropped, dates", "'note': dropped, text"):
        assert note in notes
    more = TableEncoder(one_hot=True, use=["no"], drop=["note"]).fit(frame)
    assert "maker=B" in more.get_feature_names_out()
    assert "no" in more.get_feature_names_out()


def test_polars_gives_what_pandas_gives(frame: pd.DataFrame) -> None:
    pl = pytest.importorskip("polars")
    columns = {name: values.to_list() for name, values in frame.items()}
    encoder = TableEncoder().fit(frame)
    np.testing.assert_array_equal(
        encoder.transform(pl.DataFrame(columns)), encoder.transform(frame)
    )


def test_a_model_of_the_command_line_scores_a_raw_frame(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    data, model, out = tmp_path / "a.csv", tmp_path / "m.setatoms", tmp_path / "scores.csv"
    frame.to_csv(data, index=False)
    assert main(["fit", str(data), "--method", "vector", "--save", str(model)]) == 0
    assert main(["score", str(model), str(data), "--out", str(out)]) == 0
    detector = setatoms.load(model).set_params(missing="fill")
    scores = detector.score_samples(TableEncoder.of_model(model).transform(frame))
    np.testing.assert_array_equal(-scores, pd.read_csv(out, float_precision="round_trip")["score"])


def test_a_model_of_python_scores_a_raw_file(frame: pd.DataFrame, tmp_path: Path) -> None:
    data, model, out = tmp_path / "a.csv", tmp_path / "m.setatoms", tmp_path / "scores.csv"
    encoder = TableEncoder().fit(frame)
    X = encoder.transform(frame)
    detector = setatoms.VectorAtomDetector(missing="fill", random_state=0).fit(X)
    encoder.save(detector, model)
    frame.to_csv(data, index=False)
    assert main(["score", str(model), str(data), "--out", str(out)]) == 0
    np.testing.assert_array_equal(
        -detector.score_samples(X), pd.read_csv(out, float_precision="round_trip")["score"]
    )


def test_what_is_no_frame_or_lacks_a_column_is_an_error(frame: pd.DataFrame) -> None:
    with pytest.raises(FileError, match="expected a frame with named columns, found ndarray"):
        TableEncoder().fit(np.zeros((3, 2)))
    encoder = TableEncoder().fit(frame)
    with pytest.raises(FileError, match="the frame lacks what the model needs: 'cost'"):
        encoder.transform(frame.drop(columns="cost"))
    with pytest.raises(FileError, match="several columns of the same name"):
        TableEncoder().fit(pd.concat([frame, frame], axis=1))
