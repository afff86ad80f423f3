"""What `contamination="auto"` promises, on real tables of normal rows."""

import warnings

import numpy as np
import pytest

from setatoms import ConeAtomDetector, GaussianAtomDetector, VectorAtomDetector
from setatoms.datasets import ADBENCH_DATASETS

# enough to know the share to a few tenths of a per cent on average, and little enough to be quick
MOST_ROWS = 2000
MOST_FEATURES = 50


@pytest.mark.parametrize("estimator", [GaussianAtomDetector, ConeAtomDetector, VectorAtomDetector])
def test_auto_flags_about_five_per_cent_of_unseen_normal_rows(estimator, load_adbench):
    shares, tails = [], []
    for seed, name in enumerate(ADBENCH_DATASETS):
        X, y = load_adbench(name)
        rng = np.random.default_rng(seed)
        normal = rng.permutation(X[y == 0])[:MOST_ROWS, :MOST_FEATURES]
        n_train = int(0.7 * len(normal))
        with warnings.catch_warnings():
            # small tables and constant columns are part of the test
            warnings.simplefilter("ignore", UserWarning)
            detector = estimator(random_state=seed).fit(normal[:n_train])
        shares.append(np.mean(detector.predict(normal[n_train:]) == -1))
        tails.append(np.mean(detector.p_values(normal[n_train:]) <= 0.01))
    assert len(shares) == 30
    assert 0.03 <= np.mean(shares) <= 0.08
    assert np.mean(tails) <= 0.02
    # the training error alone would flag up to all rows of the smallest tables
    assert np.max(shares) <= 0.25
