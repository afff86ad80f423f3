"""A broken relation that a person sees is found whatever the seed."""

import numpy as np
import pytest

from setatoms import SetAtomEnsemble


@pytest.fixture(scope="module")
def pump_log():
    """Return a log of a pump with one fault, the first row: hot at low power."""
    rng = np.random.default_rng(0)
    load, ambient = rng.uniform(0.2, 1.0, 3000), rng.normal(18, 4, 3000)
    load[0], ambient[0] = 0.3, 18.0
    columns = [
        1500 * np.sqrt(load) + rng.normal(0, 15, 3000),
        120 * load + rng.normal(0, 2, 3000),
        6 + 2 * load + rng.normal(0, 0.1, 3000),
        50 * load**1.5 + rng.normal(0, 0.8, 3000),
        ambient,
        ambient + 8 + 22 * load + rng.normal(0, 1, 3000),
        rng.normal(2, 0.3, 3000),
    ]
    X = np.column_stack(columns)
    X[0, 5] = 18.0 + 8 + 22 * 0.95  # as warm as at full load
    return X


@pytest.mark.parametrize("seed", range(4))
def test_a_clear_fault_is_among_the_first_rows_for_every_seed(pump_log, seed):
    model = SetAtomEnsemble(random_state=seed).fit(pump_log)
    scores = model.score_samples(pump_log)
    rank = int(np.sum(scores < scores[0])) + 1
    assert rank <= 3, rank
    assert model.explain(pump_log[:1]).kinds == ["broken relation"]
    assert model.explain(pump_log[:1]).records[0]["columns"][0]["column"] == "x5"
