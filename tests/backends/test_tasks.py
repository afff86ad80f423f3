"""Long tasks side by side: results in order, and all stop when one does."""

import threading

import pytest

from setatoms.backends import run_tasks


def ignore(amount, note):
    """Take note of nothing."""


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_results_come_in_the_order_of_tasks(n_jobs):
    assert run_tasks(lambda i, _: i * i, 7, ignore, n_jobs=n_jobs) == [0, 1, 4, 9, 16, 25, 36]


@pytest.mark.parametrize("error", [ValueError("third"), KeyboardInterrupt("third")])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_stopped_the_first_is_raised_and_the_others_end_at_their_next_step(error, n_jobs):
    failed = threading.Event()

    def task(i, step):
        if i == 2:
            failed.set()
            raise error
        # would go on forever if nobody stopped it
        while (n_jobs > 1 and i > 2) or failed.is_set():
            step(1.0, "")

    with pytest.raises(type(error), match="third"):
        run_tasks(task, 6, ignore, n_jobs=n_jobs)


def test_tasks_of_a_stopped_task_stop_for_the_same_reason():
    inner_runs = threading.Event()

    def task(i, step):
        if i == 1:
            assert inner_runs.wait(10)
            raise KeyboardInterrupt("second")

        def inner(_, inner_step):
            inner_runs.set()
            while True:
                inner_step(1.0, "")

        run_tasks(inner, 1, step, n_jobs=1)

    with pytest.raises(KeyboardInterrupt, match="second"):
        run_tasks(task, 2, ignore, n_jobs=2)


def test_steps_reach_the_caller_one_at_a_time():
    inside, most = [0], [0]

    def on_step(amount, note):
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        inside[0] -= 1

    run_tasks(lambda _, step: [step(1.0, "") for _ in range(200)], 8, on_step, n_jobs=4)
    assert most == [1]
