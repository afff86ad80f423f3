"""Frames as people have them: the same numbers in Python as on the command line."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline

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
    X = encoder.transform(frame).to_numpy()
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
    encoder = TableEncoder().fit(frame)
    np.testing.assert_array_equal(encoder.transform(in_polars(frame)), encoder.transform(frame))


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


KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame}


def in_polars(frame: pd.DataFrame) -> pl.DataFrame:
    """Return a pandas frame as one of polars."""
    return pl.DataFrame({name: values.to_list() for name, values in frame.items()})


def test_the_kind_of_frame_and_its_index_are_kept(frame: pd.DataFrame) -> None:
    labelled = frame.set_index(pd.Index([f"row {i}" for i in range(60)]))
    encoder = TableEncoder().fit(labelled)
    out = encoder.transform(labelled)
    assert isinstance(out, pd.DataFrame)
    assert list(out.index) == list(labelled.index)
    assert isinstance(encoder.transform(in_polars(frame)), pl.DataFrame)
    for each in (out, encoder.transform(in_polars(frame))):
        assert list(each.columns) == list(encoder.get_feature_names_out())


@pytest.mark.parametrize("chosen", [*KINDS, "default"])
@pytest.mark.parametrize("given", KINDS)
def test_set_output_chooses_another_kind(frame: pd.DataFrame, given: str, chosen: str) -> None:
    X = frame if given == "pandas" else in_polars(frame)
    plain = TableEncoder().fit(frame).transform(frame).to_numpy()
    out = TableEncoder().set_output(transform=chosen).fit_transform(X)
    assert isinstance(out, KINDS.get(chosen, np.ndarray))
    np.testing.assert_array_equal(np.asarray(out), plain)
    if chosen != "default":
        with config_context(transform_output=chosen):
            assert isinstance(TableEncoder().fit_transform(X), KINDS[chosen])


@pytest.mark.filterwarnings("error:X does not have valid feature names")
@pytest.mark.parametrize("given", KINDS)
def test_a_detector_behind_it_knows_the_names(frame: pd.DataFrame, given: str) -> None:
    X = frame if given == "pandas" else in_polars(frame)
    detector = setatoms.VectorAtomDetector(missing="fill", n_iter=10, random_state=0)
    pipeline = make_pipeline(TableEncoder(), detector).fit(X)
    names = ["size", "cost", "weight", "ok", "flag"]
    assert list(detector.feature_names_in_) == names
    assert list(pipeline.feature_names_in_) == list(frame.columns)
    scores = pipeline.score_samples(X)
    assert isinstance(scores, np.ndarray)
    np.testing.assert_array_equal(scores[3:5], pipeline.score_samples(X[3:5]))


@pytest.mark.filterwarnings("error:X does not have valid feature names")
def test_a_model_of_the_command_line_gets_names_from_its_encoder(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    data, model = tmp_path / "a.csv", tmp_path / "m.setatoms"
    frame.to_csv(data, index=False)
    assert main(["fit", str(data), "--method", "vector", "--save", str(model)]) == 0
    encoder = TableEncoder.of_model(model)
    setatoms.load(model).set_params(missing="fill").score_samples(encoder.transform(frame))
    assert set(encoder.feature_names_in_) <= set(frame.columns)


def test_notes_and_errors_speak_of_parameters(frame: pd.DataFrame) -> None:
    frame["number"] = ["n.a.d." if i == 30 else f"{i}.5" for i in range(60)]
    notes = "\n".join(TableEncoder().fit(frame).notes_)
    for note in (
        "`use` takes it for a measurement",
        "one_hot=True makes a feature of each value",
        "'weight': NaN, which detectors with missing='fill' take",
        "no number",
    ):
        assert note in notes
    assert "--" not in notes
    with pytest.raises(FileError, match=r"`use` cannot take it .*; make a number of it first"):
        TableEncoder(use=["day"]).fit(frame)
    with pytest.raises(FileError, match="too few columns") as error:
        TableEncoder().fit(frame[["no", "maker"]])
    assert "--" not in str(error.value)


@pytest.mark.parametrize(("mark", "shown"), [(";", ";"), ("\t", "\\t")])
def test_a_frame_whose_columns_were_not_split_is_questioned(mark: str, shown: str) -> None:
    lines = [mark.join(["time", "flow", "power"]), *(mark.join("123") for _ in range(5))]
    frame = pd.read_csv(io.StringIO("\n".join(lines)), sep="~", engine="python")
    with pytest.raises(FileError, match="if that parts columns") as error:
        TableEncoder().fit(frame)
    assert f"pandas.read_csv(..., sep='{shown}')" in str(error.value)


@pytest.mark.parametrize("decimal", [".", ","])
def test_a_cell_that_stands_out_among_numbers_is_named(decimal: str) -> None:
    words = ["<0.5" if i % 4 == 0 else f"{i}{decimal}5" for i in range(60)]
    frame = pd.DataFrame({"crp": words, "size": np.arange(60) ** 2})
    (note,) = TableEncoder().fit(frame).notes_
    assert note.startswith("'crp': dropped, text among numbers, most often '<0.5'; ")
    assert "missing=['<0.5']" in note
    taken = TableEncoder(missing=["<0.5"]).fit_transform(frame)
    assert taken["crp"].isna().sum() == 15


@pytest.mark.parametrize("chosen", [None, "pandas"])
def test_the_index_names_the_rows_and_is_no_feature(
    frame: pd.DataFrame, chosen: str | None
) -> None:
    encoder = TableEncoder(index="no", use=["size"]).set_output(transform=chosen).fit(frame)
    assert not any("'no'" in note for note in encoder.notes_)
    out = encoder.transform(frame)
    assert "no" not in out
    assert (out.index.name, list(out.index)) == ("no", list(frame["no"]))
    assert list(encoder.transform(frame.drop(columns="no")).index) == list(frame.index)
    assert "no" not in encoder.transform(in_polars(frame) if chosen is None else frame).columns
    with pytest.raises(FileError, match="has no column 'nr'"):
        TableEncoder(index="nr").fit(frame)
