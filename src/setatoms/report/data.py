"""What a report shows: plain values and arrays, so that a page can be written without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_ROWS = 200


@dataclass(frozen=True)
class AtomTable:
    """The learned atoms.

    Attributes
    ----------
    components : ndarray of shape (n_atoms, n_features)
        The centres, in standardised units.
    radii : ndarray of shape (n_atoms,)
        The radius of each atom; zeros for vectors.
    usage : ndarray of shape (n_atoms,) or None
        The share of rows that use each atom, between 0 and 1.
    sizes : tuple of int
        How many of the atoms each dictionary of an ensemble has, in order; may be empty for one.
    """

    components: NDArray[np.float64]
    radii: NDArray[np.float64]
    usage: NDArray[np.float64] | None = None
    sizes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        n_atoms = len(self.components)
        for name in ("radii", "usage"):
            values = getattr(self, name)
            if values is not None and len(values) != n_atoms:
                raise ValueError(
                    f"{name} has {len(values)} values for {n_atoms} atoms; give one for each atom"
                )
        if self.sizes and sum(self.sizes) != n_atoms:
            raise ValueError(
                f"sizes={self.sizes} sum to {sum(self.sizes)} for {n_atoms} atoms; give the number "
                "of atoms of each dictionary"
            )


@dataclass(frozen=True)
class ReportData:
    """All that is on the page.

    Attributes
    ----------
    file_name : str
        Where the rows come from, as people know it (the name, not the path).
    columns : sequence of str
        The columns used, in the order of the model.
    scores : ndarray of shape (n_rows,)
        Higher is more anomalous. Scores that are not finite are left out of the distribution.
    flagged : bool ndarray of shape (n_rows,)
        The rows called anomalies.
    threshold : float or None
        Rows with a higher score are anomalies; None where there is no such score.
    top_rows : sequence of mapping
        The most anomalous rows, first the highest score: records of ``detector.explain(X,
        top=None)``, with ``"row"`` as people count in the file, and optional ``"index"`` (the
        label of the row) and ``"p_value"``. The page shows the first 200, each with a sentence on
        its three first columns.
    center, scale : ndarray of shape (n_columns,)
        Mean and standard deviation of each column as the model knows them.
    method : str
        The detector in words, as "Gaussian atoms".
    decision : str
        How the threshold was found, in a sentence.
    atoms : AtomTable or None
        The learned atoms.
    parameters, versions : mapping
        How it was made.
    fingerprint : str
        A digest of the data, as ``"sha256:..."``.
    command : str
        What to type to make the page again.
    created : str
        When, in words; leave it out for a page that does not depend on the clock.
    times : ndarray of shape (n_rows,) or None
        When each row was, in seconds since 1970; NaN where unknown.
    time_name : str
        The column that says so.
    notes : sequence of str
        What was done with columns and missing values, a sentence each.
    title : str
        The heading; by default made of the file name.
    """

    file_name: str
    columns: Sequence[str]
    scores: NDArray[np.float64]
    flagged: NDArray[np.bool_]
    threshold: float | None
    top_rows: Sequence[Mapping[str, Any]]
    center: NDArray[np.float64]
    scale: NDArray[np.float64]
    method: str = ""
    decision: str = ""
    atoms: AtomTable | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    fingerprint: str = ""
    command: str = ""
    created: str = ""
    times: NDArray[np.float64] | None = None
    time_name: str = ""
    notes: Sequence[str] = ()
    title: str = ""

    def __post_init__(self) -> None:
        if len(self.flagged) != len(self.scores):
            raise ValueError(
                f"flagged has {len(self.flagged)} values for {len(self.scores)} scores; "
                "give one for each row"
            )
        if self.times is not None and len(self.times) != len(self.scores):
            raise ValueError(
                f"times has {len(self.times)} values for {len(self.scores)} scores; give one for "
                "each row, or none"
            )
        for name in ("center", "scale"):
            if len(getattr(self, name)) != len(self.columns):
                raise ValueError(
                    f"{name} has {len(getattr(self, name))} values for {len(self.columns)} "
                    "columns; give one for each column"
                )

    @property
    def n_rows(self) -> int:
        """Return the number of rows scored."""
        return len(self.scores)

    @property
    def n_flagged(self) -> int:
        """Return the number of anomalies."""
        return int(np.count_nonzero(self.flagged))

    @property
    def heading(self) -> str:
        """Return the title, or one made of the file name."""
        return self.title or f"Anomalies in {self.file_name}"
