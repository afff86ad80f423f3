"""Kernels are kept on disk, apart for every state of the sources."""

import os
import subprocess
import sys
from pathlib import Path

import numba

from setatoms._compile import kernel

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


def test_compiled_and_loaded_kernels_give_the_same_bits(tmp_path):
    compiled, loaded = run(tmp_path), run(tmp_path)
    assert len(compiled) == 3
    assert compiled == loaded
    assert len(list(tmp_path.rglob("*.nbc"))) > 0


def test_kernels_of_an_older_state_are_removed_and_of_other_installations_kept(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    program = "import setatoms._compile as c; print(c._CACHE)"
    command = [sys.executable, "-c", program]
    here = Path(subprocess.check_output(command, env=environment, text=True).strip())
    outdated, foreign = (
        home / "kernels-0123456789abcdef" for home in (here.parent, here.parents[1] / "01234567")
    )
    for folder in (outdated, foreign):
        folder.mkdir(parents=True)
        (folder / "old.nbi").write_bytes(b"not an index")
    subprocess.run(command, env=environment, check=True)
    assert not outdated.exists()
    assert foreign.exists()


def test_the_setting_of_others_is_left_alone():
    before = numba.config.CACHE_DIR
    assert kernel(lambda x: x + 1.0)(1.0) == 2.0
    assert before == numba.config.CACHE_DIR
