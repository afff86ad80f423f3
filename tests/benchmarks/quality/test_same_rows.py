"""The study of rows that were learned from ranks rows as it says."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks.quality import same_rows


@pytest.mark.parametrize("method", same_rows.METHODS)
def test_every_method_scores_the_abnormal_higher(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(200, 5))
    X[:20] += rng.normal(size=(20, 5))  # not far out: single dictionaries learn such rows by heart
    abnormality = same_rows.METHODS[method](X, same_rows.SEED)
    assert roc_auc_score(np.arange(200) < 20, abnormality) > 0.6


def test_wins_are_counted_table_by_table():
    page = same_rows.page({"ensemble": [0.9, 0.8, 0.7], "LOF": [0.8, 0.9, 0.7]})
    assert page.splitlines()[2:] == ["| ensemble | 0.8000 |  |", "| LOF | 0.8000 | 1 of 3 |"]
