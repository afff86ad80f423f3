from __future__ import annotations

import threading

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from setatoms.backends import fetch_add, run_together
from setatoms.backends.counters import wait_briefly


@numba.njit(nogil=True)
def count_taken(counter, taken):
    """Take numbers until there are none left, and count how often each was taken."""
    while True:
        number = fetch_add(counter)
        if number >= taken.shape[0]:
            return
        taken[number] += 1


def test_threads_take_every_number_once():
    counter, taken = np.zeros(1, np.int64), np.zeros(2_000_000, np.int64)
    run_together(lambda: count_taken(counter, taken), 4, lambda: None)
    assert (taken == 1).all()


def test_numbers_are_counted_in_an_array_of_integers():
    with pytest.raises(TypingError, match="int64 array"):
        count_taken(np.zeros(1), np.zeros(3, np.int64))


def test_what_fails_on_another_thread_is_raised_here():
    here, both_there, stopped = threading.current_thread(), threading.Barrier(2), []

    def work():
        both_there.wait(timeout=60)
        if threading.current_thread() is not here:
            raise RuntimeError("the other one fails")

    with pytest.raises(RuntimeError, match="other"):
        run_together(work, 2, lambda: stopped.append(True))
    assert stopped == [True]


def test_waiting_ends_when_the_counter_gets_there_or_the_looks_run_out():
    counter = np.zeros(1, np.int64)
    # far more looks than there is time for, were it not for the other thread
    waiting = threading.Thread(target=wait_briefly, args=(counter, 3, 1 << 50, 0), daemon=True)
    waiting.start()
    counter[0] = 2
    waiting.join(0.05)
    assert waiting.is_alive()
    counter[0] = 3
    waiting.join(30)
    assert not waiting.is_alive()
    wait_briefly(counter, 4, 10, 0)
