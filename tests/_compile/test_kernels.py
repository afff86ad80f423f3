"""Kernels are compiled for those who call them and kept on disk, per state of the sources."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from setatoms._compile import Kernel, kernel
from setatoms._compile.options import known_options

PROGRAM = """
import hashlib
import numpy as np
from setatoms import cone_omp, gauss_l1, omp
rng = np.random.default_rng(0)
atoms = rng.standard_normal((60, 15))
atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
X, radii = rng.standard_normal((1200, 15)), np.linspace(0.04, 0.12, 60)
for codes in (omp(X, atoms, n_nonzero=3), cone_omp(X, atoms, radii), gauss_l1(X, atoms, radii)):
    print(hashlib.sha256(codes.values.tobytes() + codes.residuals.tobytes()).hexdigest())
"""


def run(cache):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, check=True, capture_output=True, text=True
    ).stdout.split()


@pytest.mark.slow
def test_compiled_and_loaded_kernels_give_the_same_bits(tmp_path):
    compiled, loaded = run(tmp_path), run(tmp_path)
    assert len(compiled) == 3
    assert compiled == loaded
    assert len(list(tmp_path.rglob("*.kernel"))) > 0


def test_kernels_of_an_older_state_are_removed_and_of_other_installations_kept(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    program = "import setatoms._compile as c; print(c.STORE.folder)"
    command = [sys.executable, "-c", program]
    here = Path(subprocess.check_output(command, env=environment, text=True).strip())
    outdated, foreign = (
        home / "kernels-0123456789abcdef" for home in (here.parent, here.parents[1] / "01234567")
    )
    for folder in (outdated, foreign):
        folder.mkdir(parents=True)
        (folder / "old.kernel").write_bytes(b"not a kernel")
    subprocess.run(command, env=environment, check=True)
    assert not outdated.exists()
    assert foreign.exists()


def test_code_without_bounds_checks_is_not_loaded_where_they_are_asked_for(tmp_path):
    program = "import numpy as np; from setatoms.vectors import dot; dot(np.ones(3), np.ones(3))"
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    for settings in ({}, {"NUMBA_BOUNDSCHECK": "1"}):
        environment = os.environ | cache | settings
        subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    assert len(list(tmp_path.rglob("dot-*.kernel"))) == 2


def test_the_setting_of_others_is_left_alone():
    before = numba.config.CACHE_DIR
    assert kernel(lambda x: x + 1.0)(1.0) == 2.0
    assert before == numba.config.CACHE_DIR


@kernel
def double(x):
    return 2.0 * x


@kernel
def quadruple(x):
    return double(double(x))


def test_a_kernel_is_called_by_python_and_by_kernels():
    assert quadruple(1.5) == 6.0
    assert double(1.5) == 3.0


def test_nothing_is_compiled_for_python_that_only_kernels_call():
    @kernel
    def inner(x):
        return x - 1.0

    assert kernel(lambda x: 2.0 * inner(x))(3.0) == 4.0
    assert len(inner.for_kernels.signatures) == 1
    assert inner._for_python.signatures == []


def test_a_kernel_has_the_name_and_words_of_its_function():
    assert double.__name__ == "double"
    assert "test_kernels.double" in repr(double)
    assert isinstance(double, Kernel)


def test_options_that_numba_does_not_know_are_left_out():
    assert known_options(nogil=True, _no_such_option=True) == {"nogil": True}


@pytest.mark.parametrize("name", ["_nrt", "no_cfunc_wrapper", "no_cpython_wrapper"])
def test_kernels_do_without_options_that_numba_may_drop(monkeypatch, name):
    options = type(numba.njit(lambda: 0)).targetdescr.options
    owner = next(base for base in options.__mro__ if name in vars(base))
    monkeypatch.delattr(owner, name)
    assert known_options(**{name: False}) == {}

    @kernel
    def inner(values):
        return values[0] + 1.0

    outer = kernel(lambda values: inner(values) * 2.0)
    assert outer(np.ones(1)) == 4.0
    assert inner(np.ones(1)) == 2.0
