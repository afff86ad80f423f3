"""Numbers of any type are numbers: nothing is compiled for them anew, nothing changes."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import setatoms
from setatoms import ConeAtomDetector, GaussianAtomDetector, SetAtomEnsemble, VectorAtomDetector

PLAIN = {
    GaussianAtomDetector: {"lam": 1.0, "gamma": 0.5, "tol": 2.0**-20, "fit_tol": 2.0**-7,
                           "max_sweeps": 100, "fit_max_sweeps": 5},
    ConeAtomDetector: {"n_nonzero": 3, "cd_sweeps": 2, "min_separation": 2.0**-7},
    VectorAtomDetector: {"n_nonzero": 3},
    SetAtomEnsemble: {"n_members": 2, "gamma": 0.5, "n_nonzero": 3},
}  # fmt: skip


def compiled():
    """Return how many signatures every kernel of the library has been compiled for."""
    return {
        (name, function): len(value.signatures)
        for name, module in list(sys.modules.items())
        if name.startswith("setatoms.")
        for function, value in vars(module).items()
        if isinstance(value, Dispatcher)
    }


def scores(cls, parameters, rows):
    detector = cls(n_iter=10, random_state=0, missing="fill", **parameters)
    holed = rows.copy()
    holed[::7, 2] = np.nan
    return detector.fit(holed).score_samples(holed)


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int16, np.uint8, int, Fraction])
@pytest.mark.parametrize("cls", PLAIN)
def test_parameters_of_other_number_types_compile_nothing(cls, kind, rows):
    expected = scores(cls, PLAIN[cls], rows)
    before = compiled()
    assert before
    other = {name: as_kind(value, kind) for name, value in PLAIN[cls].items()}
    np.testing.assert_array_equal(scores(cls, other, rows), expected)
    assert compiled() == before


def as_kind(value, kind):
    """Return a number as another type that holds it exactly, or as it is."""
    if isinstance(value, int):
        return kind(value) if np.issubdtype(kind, np.integer) and kind is not int else value
    return kind(value) if kind(value) == value else value


def test_coders_compile_nothing_for_other_number_types(rows):
    atoms, radii = np.eye(6), np.full(6, 0.1)

    def code(whole, real):
        X = rows.astype(np.float64)
        return [
            setatoms.gauss_l1(X, atoms, radii, lam=real(1), gamma=real(2), max_sweeps=whole(50)),
            setatoms.cone_omp(X, atoms, radii, n_nonzero=whole(3), cd_sweeps=whole(2)),
            setatoms.omp(X, atoms, n_nonzero=whole(3)),
        ]

    expected = code(int, float)
    before = compiled()
    for one, other in zip(code(np.int8, np.float32), expected, strict=True):
        np.testing.assert_array_equal(one.errors, other.errors)
    assert compiled() == before
