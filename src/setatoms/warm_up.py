"""Compile the kernels ahead of their first use: ``python -m setatoms.warm_up``.

They are compiled once for a machine and kept on disk, so this is worth a line in the recipe of an
image or in a set-up script.
"""

from __future__ import annotations

import warnings

import numpy as np

from setatoms.estimators import ConeAtomDetector, GaussianAtomDetector, VectorAtomDetector


def warm_up() -> None:
    """Fit every detector to a few random rows."""
    rows = np.random.default_rng(0).normal(size=(40, 3))
    with warnings.catch_warnings():
        # too few rows for the atoms, and that is fine here
        warnings.simplefilter("ignore")
        GaussianAtomDetector(n_iter=10, contamination=0.1).fit(rows).predict(rows * 1e3)
        ConeAtomDetector(n_iter=10, contamination=0.1).fit(rows)
        VectorAtomDetector(n_iter=1, contamination=0.1).fit(rows)


if __name__ == "__main__":
    warm_up()
