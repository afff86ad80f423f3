"""The unit of the benchmark: what is computed, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

_LONGEST_REASON = 500


class Cell(NamedTuple):
    """One method in one configuration on one table with one seed.

    Attributes
    ----------
    dataset : str
        Name of the table.
    anomalies : str
        Kind of the anomalies, such as ``"dependency"``.
    seed : int
        Drives the generation of anomalies, the split and the initialisation.
    method, config : str
        Such as ``"Cone-DL-D"`` and ``"n4 r0.04-0.12 80-20"``, or ``"LOF"`` and ``"default"``.
    """

    dataset: str
    anomalies: str
    seed: int
    method: str
    config: str

    @property
    def table(self) -> tuple[str, str, int]:
        """What decides on the rows: cells that share it share their data."""
        return self.dataset, self.anomalies, self.seed

    def __str__(self) -> str:
        return f"{self.method} ({self.config}) on {self.dataset}, seed {self.seed}"


@dataclass(frozen=True)
class Outcome:
    """What came out of a cell.

    Attributes
    ----------
    status : {"ok", "failed"}
        Failed cells are kept and have a reason.
    reason : str or None
        Why it failed.
    auc, ap : float or None
        ROC AUC and average precision on the test part.
    error : float or None
        Mean of ``||r|| / sqrt(m)`` over the test part, for our methods.
    seconds : float or None
        Fitting and scoring on one core, with the AK-SVD start where there is one.
    """

    status: str
    reason: str | None = None
    auc: float | None = None
    ap: float | None = None
    error: float | None = None
    seconds: float | None = None

    @classmethod
    def failed(cls, reason: str) -> Outcome:
        """Return the outcome of a cell that has no result."""
        return cls("failed", reason=reason[:_LONGEST_REASON])
