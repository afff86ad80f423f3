"""Numbers are read from object arrays, programs are not run."""

from __future__ import annotations

import numpy as np
import pytest

from setatoms.datasets.numeric_npz import load_numbers


def test_arrays_of_numbers_are_read(tmp_path):
    path = tmp_path / "table.npz"
    X, y = np.arange(6, dtype=np.uint8).reshape(3, 2), np.array([0, 1, 0])
    np.savez(path, X=X, y=y)
    read_X, read_y = load_numbers(path, "X", "y")
    np.testing.assert_array_equal(read_X, X)
    np.testing.assert_array_equal(read_y, y)
    assert read_X.dtype == np.float64


@pytest.mark.parametrize("number", [int, float, np.float32, np.int64])
def test_objects_that_are_numbers_are_read(tmp_path, number):
    path = tmp_path / "table.npz"
    X = np.array([[number(k) for k in range(3)] for _ in range(4)], dtype=object)
    np.savez(path, X=X)
    np.testing.assert_array_equal(load_numbers(path, "X")[0], X.astype(float))


class Intruder:
    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return type(self.target).touch, (self.target,)


def test_a_program_in_an_object_array_is_not_run(tmp_path):
    path, trace = tmp_path / "table.npz", tmp_path / "trace"
    np.savez(path, X=np.array([1.0, Intruder(trace)], dtype=object))
    with pytest.raises(ValueError, match="not safe to load"):
        load_numbers(path, "X")
    assert not trace.exists()


def test_a_missing_array_is_named(tmp_path):
    path = tmp_path / "table.npz"
    np.savez(path, X=np.zeros(2))
    with pytest.raises(ValueError, match=r"no array 'y', only \['X'\]"):
        load_numbers(path, "X", "y")
