r"""An alarm for change, with a known rate of false alarms.

*P-values.* A score by a model that never changes is compared with a random sample of the scores
before it. With :math:`n` of them, and a random number :math:`u` of the row's own,

.. math::
    p = \frac{\#\{c_i < s\} + u \, (1 + \#\{c_i = s\})}{n + 1}

Then the score joins the sample; once that is full, one of all of them, the new one included, is
dropped at random. While rows are exchangeable, the rank of the newest among them says nothing about
which they are, so the p-values are independent and uniform: exactly, whatever the scores mean.

*Evidence.* Every row multiplies what was gathered by a bet :math:`f(p)`, a density on [0, 1], and
every row is a place where the change could have been (Shiryaev and Roberts):

.. math::
    M_t = (1 + M_{t-1}) \, f(p_t)

Without a change :math:`M_t - t` is a martingale, so the mean :math:`M` over several bets reaches a
limit :math:`L` after no fewer than :math:`L` rows on average, and within :math:`n` rows with a
probability of at most :math:`n / L` (an e-detector: Shin, Ramdas, Rinaldo, 2024). Bets are on low
p-values (rows that fit worse), high ones (rows that fit better), both ends, and the middle.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setatoms.streams.chance import uniforms

Array = NDArray[np.float64]

MOST_SCORES = 2_000
_PURPOSE_RANK, _PURPOSE_DROP = 2, 3
_POWERS = np.array([0.2, 0.5])
_LEAST = 1e-12
N_BETS = 6
# What is gathered is not counted beyond this.
MOST_EVIDENCE = 1e300


@dataclass(frozen=True)
class Alarm:
    """Evidence that rows have changed since a model was frozen.

    Parameters
    ----------
    limit : float
        The evidence that raises the alarm: one false alarm in so many tests, or fewer.
    scores : ndarray of shape (n_scores,)
        A sample of the scores before, increasing.
    evidence : ndarray of shape (n_bets,)
        What each bet has gathered.
    n_tests : int
        How many rows were tested.
    raised_at : int or None
        The number of the row that raised the alarm.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms.streams import Alarm
    >>> rng = np.random.default_rng(0)
    >>> before, after = rng.normal(size=3_000), rng.normal(-2.0, size=300)
    >>> alarm = Alarm.new(limit=100_000).tested(before, np.arange(3_000), seed=0)
    >>> alarm.raised_at is None
    True
    >>> alarm.tested(after, np.arange(3_000, 3_300), seed=0).raised_at < 3_050
    True
    """

    limit: float
    scores: Array
    evidence: Array
    n_tests: int = 0
    raised_at: int | None = None

    @classmethod
    def new(cls, limit: float) -> Alarm:
        """Return an alarm that knows of no row."""
        return cls(limit, np.empty(0), np.zeros(N_BETS))

    @property
    def total(self) -> float:
        """The evidence of all bets together."""
        return float(self.evidence.mean())

    def tested(self, scores: Array, numbers: NDArray[np.int64], seed: int) -> Alarm:
        """Return the alarm after the scores (n,) of rows of these `numbers` (n,).

        Once raised it stays as it is.
        """
        known, evidence, n_tests = list(self.scores), self.evidence.copy(), self.n_tests
        chances = uniforms(seed, _PURPOSE_RANK, numbers), uniforms(seed, _PURPOSE_DROP, numbers)
        raised_at = self.raised_at
        for score, number, place, drop in zip(scores, numbers, *chances, strict=True):
            if raised_at is not None:
                break
            n_tests += 1
            evidence = (1.0 + evidence) * bets(_take_in(known, float(score), place, drop))
            if evidence.mean() >= self.limit:
                raised_at = int(number)
        np.minimum(evidence, MOST_EVIDENCE, out=evidence)
        return Alarm(self.limit, np.array(known), evidence, n_tests, raised_at)


def _take_in(known: list[float], score: float, chance: float, drop: float) -> float:
    """Return the p-value of a score among those `known`, increasing, which it then joins."""
    below, up_to = bisect_left(known, score), bisect_right(known, score)
    p = (below + chance * (1 + up_to - below)) / (len(known) + 1)
    known.insert(up_to, score)
    if len(known) > MOST_SCORES:
        del known[int(drop * len(known))]
    return p


def bets(p: float) -> Array:
    """Return what each bet (n_bets,) pays for a p-value; its mean over [0, 1] is at most 1.

    Examples
    --------
    >>> bets(0.5).round(2).tolist(), bets(0.01).round(2).tolist()
    ([0.35, 0.71, 0.35, 0.71, 0.5, 1.5], [7.96, 5.0, 0.2, 0.5, 1.48, 0.52])
    """
    low, high = max(p, _LEAST), max(1.0 - p, _LEAST)
    ends = 0.5 + 2.0 * abs(p - 0.5)
    return np.concatenate([
        _POWERS * low ** (_POWERS - 1.0),
        _POWERS * high ** (_POWERS - 1.0),
        [ends, 2.0 - ends],
    ])  # fmt: skip
