"""The studies of decisions count rightly; their figures are published, not tested."""

import numpy as np
import pytest

from benchmarks.quality import fdr, thresholds
from setatoms.decisions import CrossFitted


@pytest.mark.parametrize("rule", list(thresholds.RULES))
def test_every_rule_draws_a_line_among_the_worse_scores(rule):
    scores = -np.random.default_rng(0).gamma(4.0, size=2000)
    ranks = np.argsort(np.argsort(scores)) / 2000
    offset = thresholds.RULES[rule](scores, CrossFitted(scores, ranks))
    flagged = np.mean(scores < offset)
    if "quantile" in rule or "gamma" in rule or "Pareto" in rule:
        # 2000 rows know 5 % to half a per cent
        assert flagged == pytest.approx(0.05, abs=0.01)
    assert 0 < flagged < 0.5


def test_false_and_true_discoveries_are_counted():
    p_values = np.array([0.001, 0.002, 0.003, 0.5, 0.9, 0.01])
    outcome = fdr.judge("made", p_values, np.array([0, 1, 1, 1, 0, 0]))
    # flagged: rows 0, 1, 2 and 5, of which 0 and 5 are normal; row 3 is missed
    assert outcome.false_share == 0.5
    assert outcome.power == pytest.approx(2 / 3)
    assert outcome.tails == pytest.approx([2 / 3, 2 / 3, 2 / 3])
