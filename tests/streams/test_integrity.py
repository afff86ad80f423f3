"""A stream whose parts do not fit together is neither saved nor loaded."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

from setatoms.persistence import ModelFileError

from .conftest import make


@pytest.fixture(scope="module")
def detector(rows):
    """Return a detector in a stream; not to be written to."""
    return make("ConeAtomDetector").partial_fit(rows[:1_500])


def changed(stream, part, **values):
    """Return the stream with other values in a part of it, or in itself."""
    if part is None:
        return replace(stream, **values)
    return replace(stream, **{part: replace(getattr(stream, part), **values)})


@pytest.mark.parametrize(
    ("part", "values"),
    [
        (None, {"seed": -1}),
        (None, {"n_seen": 1.5}),
        (None, {"n_blocks": 2**63}),
        (None, {"rows": np.zeros((512, 4))}),
        (None, {"rows": np.zeros((3, 5))}),
        (None, {"rows": np.full((3, 4), np.inf)}),
        (None, {"row_scores": np.zeros(1)}),
        (None, {"recent": np.zeros(3_000)}),
        (None, {"recent": np.array([np.nan])}),
        (None, {"outcasts": np.zeros((501, 4))}),
        (None, {"alarm": "none"}),
        (None, {"reservoir": None}),
        (None, {"moments": None}),
        (None, {"reference": None}),
        (None, {"sums": "none"}),
        ("reservoir", {"capacity": 10**9}),
        ("reservoir", {"keys": np.zeros(2)}),
        ("moments", {"squares": np.array([-1.0, 0, 0, 0])}),
        ("moments", {"weight": np.zeros(3)}),
        ("sums", {"weight": np.full(16, -1.0)}),
        ("sums", {"pull": np.full((16, 4), np.nan)}),
        ("alarm", {"limit": 0.0}),
        ("alarm", {"limit": np.nan}),
        ("alarm", {"scores": np.array([2.0, 1.0])}),
        ("alarm", {"evidence": np.full(6, np.inf)}),
        ("alarm", {"evidence": np.zeros(5)}),
        ("alarm", {"raised_at": -4}),
        ("reference", {"dictionaries": ()}),
        ("reference", {"used": (np.zeros(3),)}),
        ("reference", {"standardizer": None}),
        ("reference", {"guard": None}),
        ("reference", {"n_blocks": None}),
    ],
)
def test_a_part_that_cannot_be_is_refused(part, values, detector, tmp_path):
    broken = copy.copy(detector)
    broken.stream_ = changed(detector.stream_, part, **values)
    with pytest.raises(ModelFileError, match="cannot save"):
        broken.save(tmp_path / "broken.setatoms")
    assert not list(tmp_path.iterdir())


def test_a_stream_that_is_none_is_refused(detector, tmp_path):
    broken = copy.copy(detector)
    broken.stream_ = 3
    with pytest.raises(ModelFileError, match="stream_ is not a Stream"):
        broken.save(tmp_path / "broken.setatoms")
