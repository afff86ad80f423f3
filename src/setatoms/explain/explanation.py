r"""Split a row's error over its columns.

A row :math:`z` is represented by :math:`\hat z = z - r`. In the units of the columns
:math:`\hat z` is the *expected row*, and the squared error :math:`\|r\|^2 = \sum_i r_i^2` splits
exactly: the contribution of a column is :math:`r_i^2 / \|r\|^2`. Where several dictionaries judge
a row, both are means over them, weighted by the share that each has in the score.

Where other views have a say in the score, what was expected is what the other columns imply, and
contributions are those of `setatoms.explain.evidence`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setatoms.coding import Codes
from setatoms.explain.evidence import Evidence, squared_shares
from setatoms.explain.html_form import explanation_html
from setatoms.explain.members import list_atoms, merge_atoms
from setatoms.explain.panel import Panel, weighted_rows
from setatoms.explain.records import AtomRecord, ColumnRecord, RowRecord
from setatoms.explain.refill import refill_each
from setatoms.explain.selecting import LabelledRows, Positions, import_pandas
from setatoms.explain.sentences import NOTHING_UNUSUAL, write_sentence
from setatoms.explain.text_form import explanation_text
from setatoms.learning.dictionary import FittedDictionary

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

RANKS = ("contribution", "refill")
# Numbers that the actual atoms of coded rows may take at a time.
_SLAB_NUMBERS = 1 << 22
# Contributions of all columns sum to one but for rounding.
_LEAST_UNLISTED = 1e-9


@dataclass(frozen=True, repr=False)
class Explanation(LabelledRows):
    """Why each row has its score.

    Rows are chosen by position, ``explanation[3]``, and by the labels of the frame they came from,
    ``explanation.loc["pump 7"]``; what comes of it is an explanation of these rows. Printed, it is
    a short table of the highest scores, and in a notebook one with bars.

    Attributes
    ----------
    records : list of dict
        One per row: ``row`` (its number), ``score`` (minus `score_samples`: higher is more
        anomalous), ``flagged``, ``sentence``, ``columns`` and ``atoms``.

        A column has its name as ``column``, the value ``observed`` (None if it was missing) and the
        value ``expected``, both in the column's own unit, and its ``contribution``: its share of
        what is unusual. Contributions of all columns sum to one; a row without error has equal
        ones. With several views, ``expected`` is what the other columns imply, ``represented`` what
        the atoms represent, ``least`` and ``most`` are the smallest and the largest value learned
        from; the record has its ``kind`` and the part of each of the ``views`` in its score. With
        ``views=("relation",)``, ``expected`` is what the atoms represent, and contributions are
        shares of the squared error. With ``rank="refill"`` there is also the value ``implied`` by
        the other columns and the ``drop`` of the score when it stands there.

        An atom has its number as ``atom``, its ``coefficient`` and the ``distance`` of the actual
        atom from the centre: in standard deviations for a Gaussian, in radii for a cone, 0 for a
        vector. ``on_boundary`` says whether it sits on the boundary of its set; None if the kind
        of atoms has none.
        In an ensemble it also has the number of its ``member``.
    index : pandas Index or ndarray of shape (n_samples,)
        The labels of the rows: the index of the frame, otherwise their numbers.
    seen : mapping of str to (float, float)
        The smallest and the largest value of each column that were learned from.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from setatoms import GaussianAtomDetector
    >>> depth = np.random.default_rng(0).normal(size=(300, 1))
    >>> noise = 0.1 * np.random.default_rng(1).normal(size=(300, 3))
    >>> X = pd.DataFrame(depth * [1, 2, -1] + noise, columns=["pressure", "flow", "level"])
    >>> detector = GaussianAtomDetector(random_state=0).fit(X)
    >>> odd = pd.DataFrame([[1.0, 2.0, 1.0]], columns=X.columns, index=["pump 7"])
    >>> explanation = detector.explain(pd.concat([X[:9], odd]))
    >>> explanation.loc["pump 7"]
    Explanation of row pump 7: score ..., flagged, broken relation
      column    observed  expected  share
      level            1     -0.97   4... %
      pressure         1     0.0...  3... %
      flow             2     0.0...  2... %
    >>> len(explanation[:3])
    3
    """

    records: list[RowRecord]
    index: Any = field(default=None, compare=False)
    seen: Mapping[str, tuple[float, float]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if self.index is None:
            numbers = np.array([record["row"] for record in self.records], dtype=np.intp)
            object.__setattr__(self, "index", numbers)

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        """Return the highest scores and the reasons, in a few lines."""
        return explanation_text(self)

    def _repr_html_(self) -> str:
        """Return a table with bars for what was observed and what was expected, for notebooks."""
        return explanation_html(self)

    def _take(self, at: Positions) -> Explanation:
        return Explanation([self.records[i] for i in at.tolist()], self.index[at], self.seen)

    @property
    def sentences(self) -> list[str]:
        """One line per row."""
        return [record["sentence"] for record in self.records]

    @property
    def kinds(self) -> list[str]:
        """The kind of fault of each row; empty words with ``views=("relation",)``."""
        return [record.get("kind", "") for record in self.records]

    def ranking(self, *, flagged: bool = True) -> dict[str, float]:
        """Return the mean contribution of each column over the rows, largest first.

        Where other libraries have ``feature_importances_``: which columns carry an anomaly differs
        from row to row, so that a share of blame belongs to rows and not to the model. It takes all
        columns of each row, as ``explain(X, top=None)`` lists them.

        Parameters
        ----------
        flagged : bool, default=True
            Whether only rows beyond the threshold count; of normal rows it tells what is hardest to
            represent.

        Returns
        -------
        shares : dict of str to float
            They sum to one; empty if there are no rows.

        Examples
        --------
        >>> import numpy as np
        >>> from setatoms import VectorAtomDetector
        >>> rng = np.random.default_rng(0)
        >>> depth = rng.normal(size=(400, 1))
        >>> X = np.hstack([depth, depth, -depth, -depth]) + 0.1 * rng.normal(size=(400, 4))
        >>> detector = VectorAtomDetector(n_nonzero=1, n_atoms=4, random_state=0).fit(X)
        >>> X[:5, 2] += 2.0
        >>> ranking = detector.explain(X[:100], top=None).ranking()
        >>> next(iter(ranking))
        'x2'
        """
        records = [record for record in self.records if record["flagged"] or not flagged]
        sums: dict[str, float] = defaultdict(float)
        for record in records:
            for column in record["columns"]:
                sums[column["column"]] += column["contribution"]
        if abs(sum(sums.values()) - len(records)) > _LEAST_UNLISTED * len(records):
            raise ValueError(
                "the rows list some of their columns only, so that contributions do not sum to "
                "one; explain(X, top=None) lists all"
            )
        order = sorted(sums, key=lambda name: -sums[name])
        return {name: sums[name] / len(records) for name in order}

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The columns of all rows as a tidy table, one line for each, most responsible first.

        Its index is that of the rows, so ``frame.loc[label]`` has all columns of a row.
        """
        pd = import_pandas("Explanation.frame")

        lines = [
            {
                "row": record["row"],
                "score": record["score"],
                "flagged": record["flagged"],
                **({"kind": record["kind"]} if "kind" in record else {}),
                "place": place,
                **column,
            }
            for record in self.records
            for place, column in enumerate(record["columns"], start=1)
        ]
        counts = [len(record["columns"]) for record in self.records]
        return pd.DataFrame(lines, index=pd.Index(self.index).repeat(counts))


def explain_rows(
    panel: Panel,
    table: Array,
    signals: Sequence[Array],
    scores: Array,
    threshold: float,
    *,
    top: int | None = 3,
    rank: str = "contribution",
    evidence: Evidence | None = None,
    with_atoms: bool = True,
) -> Explanation:
    """Explain the scores of rows.

    Parameters
    ----------
    panel : Panel
        The fitted model.
    table : ndarray of shape (n_samples, n_features)
        The rows in their own units, NaN where missing.
    signals : sequence of ndarray of shape (n_samples, n_features)
        The same rows as each dictionary sees them, missing entries filled.
    scores : ndarray of shape (n_samples,)
        Their scores, higher for more anomalous rows.
    threshold : float
        Scores above it are anomalies.
    top : int or None, default=3
        How many columns to list; None lists all.
    rank : {"contribution", "refill"}, default="contribution"
        By what the columns are ordered.
    evidence : Evidence, optional
        What other views say of the rows.
    with_atoms : bool, default=True
        Whether to list the atoms of each row.
    """
    records: list[RowRecord] = []
    slab = max(1, _SLAB_NUMBERS // (table.shape[1] ** 2 * len(signals)))
    for start in range(0, len(table), slab):
        part = slice(start, start + slab)
        known = None if evidence is None else evidence.part(part)
        view = _View(panel, table[part], [Z[part] for Z in signals], scores[part], rank, known)
        records.extend(view.records(start, threshold, top, with_atoms))
    return Explanation(records)


class _Opinion:
    """What one dictionary makes of a slab of rows Z (n, n_features) with `missing` entries."""

    def __init__(
        self,
        dictionary: FittedDictionary,
        Z: Array,
        missing: Mask,
        n_jobs: int | None,
        *,
        refills: bool,
    ) -> None:
        self.codes: Codes = dictionary.code(Z, n_jobs=n_jobs, actual_atoms=True)
        residuals = np.asarray(self.codes.residuals, dtype=np.float64)
        self.expected = Z - residuals
        # a value that was filled in is not to blame
        self.shares = squared_shares(np.where(missing, 0.0, residuals))
        if refills:
            self.implied, self.refilled_errors = refill_each(dictionary, Z, missing, n_jobs)


class _View:
    """A slab of rows, coded and measured; see `explain_rows` for the arguments.

    What dictionaries say counts by their share in the score.
    """

    def __init__(
        self,
        panel: Panel,
        table: Array,
        signals: Sequence[Array],
        scores: Array,
        rank: str,
        evidence: Evidence | None,
    ) -> None:
        self._panel, self._table, self._scores = panel, table, scores
        self._evidence = evidence
        missing = np.isnan(table)
        refills = rank == "refill" and evidence is None
        self._opinions = [
            _Opinion(dictionary, Z, missing, panel.n_jobs, refills=refills)
            for dictionary, Z in zip(panel.dictionaries, signals, strict=True)
        ]
        errors = np.array([opinion.codes.errors for opinion in self._opinions])
        self._weights = panel.combination.shares(errors)
        represented, self._shares = self._mean("expected"), self._mean("shares")
        self._implied = self._drops = None
        if evidence is not None:
            represented *= evidence.factors[:, None]
            self._shares = evidence.shares(self._shares)
            self._expected = panel.in_own_units(evidence.implied)
            self._implied, self._drops = self._expected, evidence.drops
        else:
            self._expected = panel.in_own_units(represented)
        self._represented = panel.in_own_units(represented)
        if refills:
            self._implied = panel.in_own_units(self._mean("implied"))
            refilled = np.array([opinion.refilled_errors for opinion in self._opinions])
            self._drops = _drops(panel, errors, refilled, scores)
        merits = self._shares if self._drops is None else self._drops
        self._order = np.argsort(-merits, axis=1, kind="stable")

    def _mean(self, what: str) -> Array:
        return weighted_rows([getattr(opinion, what) for opinion in self._opinions], self._weights)

    def records(
        self, first: int, threshold: float, top: int | None, with_atoms: bool
    ) -> Iterator[RowRecord]:
        """Yield a record for each row; the first row has number `first`."""
        atoms = self._atoms() if with_atoms else [[] for _ in self._scores]
        listed = self._columns(self._order[:, :top])
        empty = np.asarray(np.isnan(self._table).all(axis=1))
        kinds = None if self._evidence is None else self._evidence.kinds()
        for i, score in enumerate(self._scores.tolist()):
            columns = listed[i]
            record = RowRecord(
                row=first + i,
                score=score,
                flagged=score > threshold,
                sentence=NOTHING_UNUSUAL if empty[i] else write_sentence(columns, score),
                columns=columns,
                atoms=atoms[i],
            )
            if self._evidence is not None and kinds is not None:
                record["kind"] = kinds[i]
                record["views"] = self._evidence.parts_by_name(i, score)
            yield record

    def _atoms(self) -> list[list[AtomRecord]]:
        """Return the atoms of each row; of several dictionaries, with the number of each."""
        pairs = zip(self._opinions, self._panel.dictionaries, strict=True)
        lists = [list_atoms(opinion.codes, dictionary) for opinion, dictionary in pairs]
        return lists[0] if len(lists) == 1 else merge_atoms(lists)

    def _columns(self, order: NDArray[np.intp]) -> list[list[ColumnRecord]]:
        """Return the columns of each row, from their numbers (n_rows, n_listed)."""
        names = self._panel.names

        def listed(values: Array) -> list[list[float]]:
            found: list[list[float]] = np.take_along_axis(values, order, axis=1).tolist()
            return found

        parts = {
            "observed": listed(self._table),
            "expected": listed(self._expected),
            "contribution": listed(self._shares),
        }
        if self._evidence is not None:
            least, most = (np.broadcast_to(end, self._table.shape) for end in self._evidence.seen)
            parts["represented"] = listed(self._represented)
            parts["least"], parts["most"] = listed(least), listed(most)
        if self._implied is not None and self._drops is not None:
            parts["implied"], parts["drop"] = listed(self._implied), listed(self._drops)
        rows = []
        for i, places in enumerate(order.tolist()):
            columns = []
            for q, j in enumerate(places):
                column: Any = {"column": names[j]}
                for part, values in parts.items():
                    column[part] = values[i][q]
                if column["observed"] != column["observed"]:
                    column["observed"] = None
                columns.append(column)
            rows.append(columns)
        return rows


def _drops(panel: Panel, errors: Array, refilled: Array, scores: Array) -> Array:
    """Return by how much each refill lowers the score of its row (n, n_features).

    From `errors` (n_dictionaries, n) and those after each refill (n_dictionaries, n, n_features),
    infinite where nothing was refilled.
    """
    combine = panel.combination.combine
    before = combine(errors)[:, None]
    after = combine(refilled.reshape(len(refilled), -1)).reshape(refilled.shape[1:])
    changed = np.isfinite(refilled[0]) & (before > 0)
    kept = np.where(changed, after, 1.0) / np.where(changed, before, 1.0)
    return np.asarray(scores[:, None] * (1.0 - kept))


def check_top(top: Any) -> None:
    """Raise a ValueError unless `top` says how many columns to list.

    Parameters
    ----------
    top : object
        Should be a whole number from 1, or None for all.
    """
    whole = isinstance(top, (int, np.integer)) and not isinstance(top, bool)
    if top is not None and not (whole and top >= 1):
        raise ValueError(f"top={top!r} must be a whole number, at least 1, or None for all columns")


def check_rank(rank: Any) -> None:
    """Raise a ValueError unless columns can be ordered by `rank`.

    Parameters
    ----------
    rank : object
        Should be ``"contribution"`` or ``"refill"``.
    """
    if rank not in RANKS:
        raise ValueError(f"rank={rank!r} must be {' or '.join(map(repr, RANKS))}")
