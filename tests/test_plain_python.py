"""With NUMBA_DISABLE_JIT=1 every kernel runs in plain Python and gives what compiled ones give."""

import os
import subprocess
import sys
import warnings
from unittest.mock import patch

import numpy as np
import pytest
from sklearn.datasets import load_wine

import setatoms

N_ATOMS = 20


def coders():
    rng = np.random.default_rng(0)
    atoms = rng.standard_normal((N_ATOMS, 6))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    X, radii = rng.standard_normal((30, 6)), np.linspace(0.04, 0.12, N_ATOMS)
    X[1] = 0.0
    yield "omp of pairs", setatoms.omp(X, atoms, n_nonzero=2)
    yield "omp", setatoms.omp(X, atoms, n_nonzero=4, actual_atoms=True)
    with patch("setatoms.coding.omp.coder._LARGE", 0):
        for n_nonzero in (1, 2, 5):
            codes = setatoms.omp(np.tile(X, (4, 1)), atoms, n_nonzero=n_nonzero)
            yield f"omp of {n_nonzero} in single precision", codes
    yield "cones in pairs", setatoms.cone_omp(X, atoms, radii)
    yield "cones", setatoms.cone_omp(X, atoms, radii, n_nonzero=3, actual_atoms=True)
    yield "gaussians", setatoms.gauss_l1(X, atoms, radii, actual_atoms=True)
    # by descent where atoms lean far; of 7 X no rounding decides which of two minima it is
    yield "many gaussians", setatoms.gauss_l1(7.0 * X, atoms, radii / 10.0, gamma=0.1)
    yield "wide gaussians", setatoms.gauss_l1(X, atoms, 10.0 * radii, max_sweeps=300)


def detectors():
    rows = load_wine().data[:60, :5].copy()
    gaps = np.where(np.random.default_rng(0).random(rows.shape) < 0.05, np.nan, rows)
    shared = {"n_atoms": 8, "contamination": 0.1, "random_state": 0}
    yield "vectors", setatoms.VectorAtomDetector(n_iter=3, **shared), rows
    yield "cones", setatoms.ConeAtomDetector(n_iter=10, missing="fill", **shared), gaps
    yield "gaussians", setatoms.GaussianAtomDetector(n_iter=10, missing="fill", **shared), gaps


def compute(path):
    found = {}
    for name, codes in coders():
        # the order in which atoms came in may hang on the last bit
        found[f"{name}: support"] = np.sort(codes.support, axis=1)
        found[f"{name}: coefficients"] = codes.coefficients.toarray()
        found[f"{name}: residuals"] = codes.residuals
        if codes.actual_atoms is not None:
            found[f"{name}: members"] = codes.actual_atoms.sum(axis=1)
    for name, detector, rows in detectors():
        found[f"{name}: scores"] = detector.fit(rows).score_samples(rows)
    np.savez(path, **found)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compute(folder / "compiled.npz")
    program = (
        "import runpy, sys, warnings; warnings.simplefilter('ignore'); "
        "compute = runpy.run_path(sys.argv[1])['compute']; compute(sys.argv[2]); "
        "from setatoms.vectors import norm; print(type(norm).__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, __file__, folder / "plain.npz"],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["function"], done.stderr
    return np.load(folder / "compiled.npz"), np.load(folder / "plain.npz")


def test_plain_kernels_choose_the_same_atoms(both):
    compiled, plain = both
    supports = [name for name in compiled.files if "support" in name]
    assert len(supports) == 10
    for name in supports:
        np.testing.assert_array_equal(plain[name], compiled[name], err_msg=name)


def test_plain_kernels_give_the_same_numbers(both):
    compiled, plain = both
    assert sorted(plain.files) == sorted(compiled.files)
    for name in compiled.files:
        # signals are of size 1 to 10; iterative coders stop within 1e-7 of their objective
        np.testing.assert_allclose(plain[name], compiled[name], rtol=1e-6, atol=1e-7, err_msg=name)
