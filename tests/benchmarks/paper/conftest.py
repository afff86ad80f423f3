"""What the tests of the benchmark share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.paper.rows import Rows


@pytest.fixture
def adbench(shared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let `fetch_adbench`, here and in processes started from here, find ADBench's tables."""
    folder = shared / "adbench"
    monkeypatch.setenv("SETATOMS_DATA", str(folder))
    return folder


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    """Return a small split: normal rows lie near a plane, anomalies anywhere."""
    rng = np.random.default_rng(0)
    normal = rng.normal(size=(260, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(260, 5))
    odd = 2 * rng.normal(size=(20, 5))
    return Rows(
        train=np.vstack([normal[:200], odd[:10]]) * 3 + 1,
        test=np.vstack([normal[200:], odd[10:]]) * 3 + 1,
        truth=np.repeat([0, 1], [60, 10]),
        starts=tmp_path / "starts" / "plane",
    )
