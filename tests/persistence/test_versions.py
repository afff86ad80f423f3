"""Files of older versions load, those of newer ones say what to do."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import setatoms
from setatoms.persistence import ModelFileError, read_header
from setatoms.persistence.header import VERSION
from setatoms.persistence.upgrades import UPGRADES

FOLDER = Path(__file__).parent / "data"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="ascii"))


def test_there_are_files_of_every_version():
    versions = {read_header(path)["version"] for path in FOLDER.glob("*.setatoms")}
    assert versions == {*UPGRADES, VERSION}


@pytest.mark.parametrize("name", EXPECTED["output"])
def test_a_file_of_any_version_gives_what_it_gave_when_saved(name):
    model = setatoms.load(FOLDER / name)
    rows = EXPECTED["rows"]
    if hasattr(model, "feature_names_in_"):
        rows = pd.DataFrame(rows, columns=model.feature_names_in_)
    says = model.score_samples if hasattr(model, "score_samples") else model.transform
    # coders stop when the objective falls by less than 1e-7: coefficients, by whose square it
    # falls, are then known to the root of that, and another version may come from another side
    np.testing.assert_allclose(says(rows), EXPECTED["output"][name], rtol=3e-3, atol=1e-6)


def test_a_detector_of_version_1_is_not_calibrated_and_takes_no_gaps():
    model = setatoms.load(FOLDER / "cone-version-1.setatoms")
    assert model.calibration_scores_ is None
    assert model.missing == "error"
    assert list(model.feature_names_in_) == ["depth", "größe", "<b>", "x y"]
    header = read_header(FOLDER / "cone-version-1.setatoms")
    assert header["version"] == 1
    assert header["features"]["count"] == 4
    assert header["training"] == {"n_rows": None, "iterations": 20, "error": None}


def test_a_model_of_version_1_is_saved_in_the_current_one(tmp_path):
    setatoms.load(FOLDER / "codes-version-1.setatoms").save(tmp_path / "model")
    assert read_header(tmp_path / "model")["version"] == VERSION


@pytest.mark.parametrize("read", [setatoms.load, read_header])
@pytest.mark.parametrize(
    ("writer", "remedy"),
    [("9.1.0", '"setatoms>=9.1.0"'), ("$(reboot)", '"setatoms"'), (None, '"setatoms"')],
)
def test_a_newer_version_asks_for_an_upgrade(stored, forged, read, writer, remedy):
    header, arrays = stored
    newer = {"format": header["format"], "version": VERSION + 1, "versions": {"setatoms": writer}}
    words = f"format version {VERSION + 1}.*reads versions 1 to {VERSION}; upgrade: "
    with pytest.raises(ModelFileError, match=words + re.escape(f"pip install --upgrade {remedy}")):
        read(forged(newer | {"anything": "else"}, arrays))


@pytest.mark.parametrize("version", [0, -1, 1.0, True, None, "2", [2]])
def test_a_version_is_a_whole_number(stored, forged, version):
    header, arrays = stored
    with pytest.raises(ModelFileError, match="its format version is"):
        setatoms.load(forged(header | {"version": version}, arrays))


@pytest.mark.parametrize("lost", ["parameters", "attributes", "feature_names", "arrays"])
def test_a_header_that_only_claims_version_1_is_refused(stored, forged, lost):
    header, arrays = stored
    names = {"feature_names": None}
    attributes = {"attributes": header["attributes"] | {"n_features_in_": 5}}
    claimed = {**header, **names, **attributes, "version": 1, lost: [1]}
    with pytest.raises(ModelFileError):
        setatoms.load(forged(claimed, {} if lost == "arrays" else arrays))
