"""Models are the same, to the last bit, on processors with AVX2 and with AVX-512."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
import warnings
from ast import literal_eval

import numpy as np
import pytest
from llvmlite.binding import get_host_cpu_features
from sklearn.datasets import load_wine

import setatoms

DETECTORS = {
    "SetAtomEnsemble": {"budget": "fast"},
    "GaussianAtomDetector": {"n_iter": 20},
    "ConeAtomDetector": {"n_iter": 20},
    "VectorAtomDetector": {},
}


def find_digests() -> dict[str, str]:
    """Return for each detector what it learned and how it scores, in short."""
    found = {}
    X = load_wine().data
    for name, parameters in DETECTORS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            detector = getattr(setatoms, name)(random_state=0, **parameters).fit(X)
        learned = [each.atoms for each in detector.dictionaries_]
        digest = hashlib.sha256(np.concatenate(learned).tobytes())
        digest.update(detector.score_samples(X).tobytes() + np.float64(detector.offset_).tobytes())
        found[name] = digest.hexdigest()
    return found


def digests(**environment: str) -> dict[str, str]:
    """Return those of a new process."""
    program = "import runpy, sys; print(runpy.run_path(sys.argv[1])['find_digests']())"
    done = subprocess.run(
        [sys.executable, "-c", program, __file__],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, str] = literal_eval(done.stdout)
    return found


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="names features of x86 processors")
def test_models_do_not_depend_on_the_width_of_registers(tmp_path) -> None:
    features = get_host_cpu_features()
    if not features.get("avx2"):
        pytest.skip("products are fused with sums only where the processor can, from AVX2 on")
    narrow = ",".join(
        f"{'-' if 'avx512' in name or not has else '+'}{name}" for name, has in features.items()
    )
    others = digests(
        NUMBA_CPU_NAME="haswell",
        NUMBA_CPU_FEATURES=narrow,
        NUMBA_CACHE_DIR=str(tmp_path),
        OPENBLAS_CORETYPE="Haswell",
        NPY_DISABLE_CPU_FEATURES="AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL",
    )
    assert set(others) == set(DETECTORS)
    assert others == digests()
