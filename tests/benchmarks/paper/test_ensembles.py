"""Ensembles in the benchmark are what their configurations say."""

from __future__ import annotations

import numpy as np
import pytest

import setatoms
from benchmarks.paper.ensembles import (
    ABLATIONS,
    CONFIRMATION_DATASETS,
    DESIGN_DATASETS,
    ENSEMBLE,
    NeighbourEnsemble,
)
from benchmarks.paper.rows import Rows
from setatoms.datasets import ADBENCH_DATASETS


def test_the_halves_share_no_table() -> None:
    assert sorted({*DESIGN_DATASETS, *CONFIRMATION_DATASETS}) == sorted(ADBENCH_DATASETS)
    assert len(DESIGN_DATASETS) == len(CONFIRMATION_DATASETS) == 15


@pytest.mark.parametrize("config", ["fast", "members 2", "rule median", "subsample 0.6"])
def test_a_configuration_is_a_constructor_call(config: str, rows: Rows) -> None:
    arguments = {"budget": "fast"} if config == "fast" else ABLATIONS[config]
    expected = setatoms.SetAtomEnsemble(
        contamination=0.1, views=("relation",), random_state=3, **arguments
    )
    scored = ENSEMBLE.score(rows, config, seed=3)
    np.testing.assert_array_equal(
        scored.abnormality, -expected.fit(rows.train).score_samples(rows.test)
    )


def test_an_ensemble_of_neighbours_is_the_mean_of_standard_scores(rows: Rows) -> None:
    lof = pytest.importorskip("pyod.models.lof").LOF
    found = NeighbourEnsemble("pyod.models.lof:LOF", (5, 10_000)).fit(rows.train)
    alone = lof(n_neighbors=5).fit(rows.train)
    known = alone.decision_scores_
    expected = (alone.decision_function(rows.test) - known.mean()) / known.std()
    np.testing.assert_allclose(found.decision_function(rows.test), expected)
