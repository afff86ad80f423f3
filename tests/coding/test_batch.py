"""The driver of coders: how rows are split into chunks, and those that come last."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from setatoms.coding import batch
from setatoms.coding.batch import code, errors
from setatoms.coding.chunks import Chunks, next_chunk, split
from setatoms.coding.gauss.coder import GaussCoder


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("chunk_rows", [1, 3, 10, 512])
@pytest.mark.parametrize("n_rows", [0, 1, 9, 10, 41, 512, 1000])
def test_chunks_cover_all_rows_once(n_rows, chunk_rows, n_threads):
    n_whole, n_chunks = split(n_rows, chunk_rows, n_threads)
    chunks = Chunks(np.zeros(1, np.int64), chunk_rows, n_whole, np.empty(0), n_rows)
    taken = [next_chunk(chunks, n_rows) for _ in range(n_chunks)]
    assert [row for first, last in taken for row in range(first, last)] == list(range(n_rows))
    assert all(0 < last - first <= chunk_rows for first, last in taken)
    first, last = next_chunk(chunks, n_rows)
    assert first >= last


def test_threads_share_the_last_chunks_in_parts():
    n_whole, n_chunks = split(10_000, 512, 2)
    assert (n_whole, n_chunks) == (17, 17 + 11)


def far_and_near(n_rows, max_sweeps=10_000):
    """Return signals of which every third is so far out that its atoms may turn anywhere."""
    rng = np.random.default_rng(0)
    atoms = normalize(rng.standard_normal((24, 8)))
    X = rng.standard_normal((n_rows, 8))
    X[::3] *= 1000.0
    coder = GaussCoder(atoms, np.full(24, 0.08), 1.0, 1.0, max_sweeps, 1e-7)
    return coder, X


@pytest.fixture
def n_late(monkeypatch):
    """Count the rows that are left for later."""
    counted = []

    def count(coder, rows, late, *others):
        counted.append(len(late))
        run_late(coder, rows, late, *others)

    run_late = batch._run_late
    monkeypatch.setattr(batch, "_run_late", count)
    return counted


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_rows_that_come_late_are_coded_like_others(dtype, n_jobs, n_late, monkeypatch):
    coder, X = far_and_near(3000)
    X = X.astype(dtype)
    some, their_errors = (
        code(coder, X, n_jobs=n_jobs, members=True),
        errors(coder, X, n_jobs=n_jobs),
    )
    assert n_late == [n_late[0]] * 2
    # of each chunk, a few are coded with the others
    assert 900 < n_late[0] < 1000
    monkeypatch.setattr(coder, "usual_sweeps", coder.most_sweeps)
    at_once = code(coder, X, n_jobs=n_jobs, members=True)
    assert len(n_late) == 2
    for one, other in zip(some, at_once, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(their_errors, some.errors)
    assert (some.errors >= 0).all()


def test_few_rows_that_take_long_are_not_left(n_late):
    coder, X = far_and_near(3000)
    X[3::3] = X[1::3][:-1]
    assert coder.solvers(X)[0] == "newton"
    code(coder, X, n_jobs=1)
    assert n_late == []
    # unless they could take so long that they must not keep the main thread
    patient, _ = far_and_near(0, max_sweeps=1_000_000)
    code(patient, X, n_jobs=1)
    assert 0 < n_late[0] <= 2
