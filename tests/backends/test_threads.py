"""Chunks and threads."""

import ctypes
import multiprocessing
import os
import threading
import time

import pytest

from setatoms.backends import run_chunks
from setatoms.backends.crew import Crew


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


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="cores can be chosen on Linux")
def test_helpers_leave_the_core_of_their_caller_alone():
    cores = os.sched_getaffinity(0)
    if len(cores) < 2:
        pytest.skip("a single core")
    library = ctypes.PyDLL(None)
    crew, allowed = Crew("test"), []
    for _ in range(20):
        here = library.sched_getcpu()
        crew.begin(lambda: allowed.append(os.sched_getaffinity(0))).result(30)
        if library.sched_getcpu() == here:
            assert allowed[-1] == cores - {here}
    assert os.sched_getaffinity(0) == cores


def test_a_crew_has_no_more_threads_than_cores():
    crew, end = Crew("test"), threading.Event()
    begun = [crew.begin(lambda: end.wait(30) and None) for _ in range(os.cpu_count() + 2)]
    assert [future is None for future in begun] == [False] * os.cpu_count() + [True] * 2
    end.set()
    for future in begun[:-2]:
        future.result(30)
    assert crew.begin(lambda: None).result(30) is None


def test_an_error_of_a_helper_reaches_the_caller_and_the_helper_goes_on():
    crew = Crew("test")
    with pytest.raises(ZeroDivisionError):
        crew.begin(lambda: 1 / 0).result(30)
    assert crew.begin(lambda: None).result(30) is None
