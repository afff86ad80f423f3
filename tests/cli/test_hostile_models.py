"""A model from somebody else cannot keep the command line busy against one's will."""

from __future__ import annotations

import dataclasses
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from setatoms import GaussianAtomDetector
from setatoms.persistence.models import StoredModel, read_model, write_model

from .conftest import Answer

Call = Callable[..., Answer]

N_FEATURES, N_ATOMS = 100, 1_000
NAMES = [f"x{j}" for j in range(N_FEATURES)]


@pytest.fixture(scope="module")
def slow_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model of very many atoms, never done, that takes milliseconds for each row."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, N_FEATURES))
    detector = GaussianAtomDetector(
        n_atoms=N_ATOMS,
        n_iter=2,
        adapt_every=1,
        views=("relation",),
        contamination=0.1,
        random_state=0,
    )
    with pytest.warns(UserWarning, match="rows per atom"):
        detector.fit(X)
    atoms = rng.normal(size=(N_ATOMS, N_FEATURES))
    detector.dictionary_ = dataclasses.replace(
        detector.dictionary_,
        kind=dataclasses.replace(detector.kind_, max_sweeps=1_000_000, tol=0.0),
        atoms=atoms / np.linalg.norm(atoms, axis=1, keepdims=True),
        radii=np.full(N_ATOMS, 0.02),
    )
    detector.feature_names_in_ = np.array(NAMES, dtype=object)
    path = tmp_path_factory.mktemp("slow") / "slow.setatoms"
    detector.save(path)
    return path


@pytest.fixture(scope="module")
def wide_rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wide") / "rows.csv"
    # so long that dozens of atoms come in, one after the other
    X = 10.0 * np.random.default_rng(1).normal(size=(20_000, N_FEATURES))
    np.savetxt(path, X, fmt="%.3f", delimiter=",", header=",".join(NAMES), comments="")
    return path


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_scoring_soon_whatever_the_model(
    slow_model: Path, wide_rows: Path, tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "scores.csv"
    child = subprocess.Popen(
        [sys.executable, "-m", "setatoms", "score", str(slow_model), str(wide_rows),
         "--out", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_until_it_computes(child)
    child.send_signal(number)
    try:
        # at once; all rows would take minutes
        _, err = child.communicate(timeout=10)
    finally:
        child.kill()
    assert child.returncode == 128 + number
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def wait_until_it_computes(child: subprocess.Popen[str]) -> None:
    """Return once a process has used a few seconds of processor time after its start."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and child.poll() is None:
        fields = Path(f"/proc/{child.pid}/stat").read_text(encoding="ascii").rsplit(")")[-1].split()
        if int(fields[11]) > 800:  # hundredths of seconds in user mode
            return
        time.sleep(0.1)
    child.kill()
    raise AssertionError(f"it ended too early: {child.communicate()}")


@pytest.mark.parametrize(
    ("field", "value"), [("max_sweeps", 2**62), ("fit_max_sweeps", 2**62), ("max_sweeps", 0)]
)
def test_limits_are_checked_when_a_model_is_loaded(
    call: Call, slow_model: Path, wide_rows: Path, tmp_path: Path, field: str, value: int
) -> None:
    stored = read_model(slow_model)
    stored.header["attributes"]["dictionary_"]["fields"]["kind"]["fields"][field] = value
    crafted = tmp_path / "crafted.setatoms"
    write_model(crafted, StoredModel(stored.header, stored.arrays))
    answer = call("score", crafted, wide_rows)
    assert answer.status == 1
    rule = "must be a whole number, at least 1 and at most 1,000,000"
    assert f"{field}={value} {rule}" in answer.err
