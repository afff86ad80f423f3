"""Chunks and threads."""

import multiprocessing
import threading
import time

import pytest

from setatoms.backends import run_chunks


@pytest.mark.parametrize("n_jobs", [1, 2, -1, None])
@pytest.mark.parametrize("n_rows", [0, 1, 9, 10, 11, 95])
def test_chunks_cover_the_rows_in_order(n_jobs, n_rows):
    chunks = run_chunks(lambda *chunk: chunk, n_rows, n_jobs=n_jobs, chunk_rows=10)
    assert [row for start, stop in chunks for row in range(start, stop)] == list(range(n_rows))
    assert all(stop - start <= 10 for start, stop in chunks)


def test_several_threads_take_part():
    both_there = threading.Barrier(2, timeout=30)
    assert len(run_chunks(lambda *_: both_there.wait(), 4, n_jobs=2, chunk_rows=1)) == 4


def test_an_error_in_a_chunk_reaches_the_caller():
    def task(start, stop):
        if start == 50:
            raise RuntimeError("chunk 50")

    for n_jobs in (1, 2):
        with pytest.raises(RuntimeError, match="chunk 50"):
            run_chunks(task, 100, n_jobs=n_jobs, chunk_rows=10)


def test_an_interruption_drops_the_chunks_not_yet_begun():
    begun = []

    def task(start, stop):
        begun.append(start)
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        run_chunks(task, 1000, n_jobs=2, chunk_rows=1)
    assert len(begun) < 1000


def test_zero_jobs_is_an_error_that_names_the_remedy():
    with pytest.raises(ValueError, match=r"n_jobs=0 .* use 1, or -1"):
        run_chunks(lambda *_: None, 10, n_jobs=0)


def _work_in_child(queue):
    queue.put(sum(run_chunks(lambda start, stop: stop - start, 5000, n_jobs=2)))


def test_a_forked_child_has_its_own_pool():
    run_chunks(lambda *_: None, 5000, n_jobs=2)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_work_in_child, args=(queue,))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert queue.get() == 5000
