"""Arrays that NumPy maps from a file: the same model, and they need not fit in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn import config_context

import setatoms
from setatoms.estimators.reading import is_mapped
from setatoms.learning.kinds import ConeAtoms
from setatoms.rows import MappedRows, MemoryRows, memory, moments, summarise

RNG = np.random.default_rng(2)
X = RNG.normal(size=(2000, 3)) @ RNG.normal(size=(3, 6)) + 0.1 * RNG.normal(size=(2000, 6))
X[5] = 40.0
HOLED = np.where(RNG.random(X.shape) < 0.03, np.nan, X)
HOLED[7] = np.nan
MAKERS = {
    "ensemble": lambda: setatoms.SetAtomEnsemble(budget="fast", random_state=0, missing="fill"),
    "gaussian": lambda: setatoms.GaussianAtomDetector(n_iter=10, random_state=0, missing="fill"),
    "cone": lambda: setatoms.ConeAtomDetector(n_iter=10, random_state=0, missing="fill"),
}


def mapped(table: np.ndarray, folder: Path) -> np.memmap:
    np.save(folder / "rows.npy", table)
    return np.load(folder / "rows.npy", mmap_mode="r")


@pytest.mark.filterwarnings("ignore:X has no value at all in 1 of")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("table", [X, HOLED], ids=["whole", "holed"])
@pytest.mark.parametrize("kind", MAKERS)
def test_the_model_is_the_same(kind: str, table: np.ndarray, dtype: type, tmp_path: Path) -> None:
    file = mapped(table.astype(dtype), tmp_path)
    wanted = MAKERS[kind]().fit(np.array(file))
    with config_context(working_memory=0):
        assert is_mapped(file)
        found = MAKERS[kind]().fit(file)
        scores = found.score_samples(file)
    assert found.offset_ == wanted.offset_
    np.testing.assert_array_equal(scores, wanted.score_samples(np.array(file, np.float64)))


def test_columns_one_after_the_other_give_the_same_bits(tmp_path: Path) -> None:
    """As NumPy writes the numbers of a pandas frame."""
    file = mapped(np.asfortranarray(X), tmp_path)
    assert file.flags.f_contiguous
    for found, wanted in zip(moments(MappedRows(file)), moments(MemoryRows(X)), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_small_file_is_read_as_a_whole(tmp_path: Path) -> None:
    assert not is_mapped(mapped(X, tmp_path))


def test_bad_values_are_named(tmp_path: Path) -> None:
    with config_context(working_memory=0), pytest.raises(ValueError, match="NaN in column"):
        setatoms.ConeAtomDetector().fit(mapped(HOLED, tmp_path))


def test_rows_are_found_by_place(tmp_path: Path) -> None:
    rows = MappedRows(mapped(X, tmp_path)).choose(np.arange(0, 2000, 3))
    np.testing.assert_array_equal(rows.take(np.array([0, 2])), X[[0, 6]])
    np.testing.assert_array_equal(rows.read(1, 3), X[[3, 6]])
    assert summarise(rows).n_missing.sum() == 0


@pytest.mark.parametrize(
    ("megabytes", "n_threads"), [(0, 1), (1, 1), (2.5, 2), (3.5, 3), (1_024, 8)]
)
def test_as_many_threads_read_as_there_is_room_for(
    megabytes: float, n_threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = np.zeros((64_000, 32))  # in parts of 1,000 rows: 256 kB, and a thread holds four
    asked = []
    monkeypatch.setattr(
        memory,
        "run_tasks",
        lambda task, n, step, n_jobs: asked.append(n_jobs) or [task(i, step) for i in range(n)],
    )
    rows = MappedRows(mapped(table, tmp_path), room=int(megabytes * 2**20))
    chosen = rows.choose(np.arange(63_999))
    for each in (rows, chosen):
        signals = each.signals(np.asarray, 8)
        signals.statistics(ConeAtoms(), np.eye(32), np.full(32, 0.1))
    assert asked == [n_threads, n_threads]


def test_wide_rows_are_read_few_at_a_time(tmp_path: Path) -> None:
    wide = np.random.default_rng(0).normal(size=(6_000, 1_024))
    read = MappedRows(mapped(wide, tmp_path)).map(len)
    assert read == [4_096, 1_904]
    assert MemoryRows(wide).map(len) == read


@pytest.mark.parametrize("n_rows", [1000, 65_536, 65_537, 200_000])
def test_moments_are_those_of_numpy(n_rows: int) -> None:
    table = np.random.default_rng(0).normal(3.0, 2.0, size=(n_rows, 3))
    table[::7, 1] = np.nan
    mean, deviation = moments(MemoryRows(table))
    np.testing.assert_allclose(mean, np.nanmean(table, axis=0), rtol=1e-12)
    np.testing.assert_allclose(deviation, np.nanstd(table, axis=0), rtol=1e-12)
