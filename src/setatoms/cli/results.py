"""What a run found: in words, as JSON, and for the report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from setatoms.cli.models import Model
from setatoms.cli.options import Flagging
from setatoms.cli.printing import Printer
from setatoms.cli.scoring import FlagRule, Tally

_REASONS = 3


@dataclass(frozen=True)
class Results:
    """What a run found.

    Attributes
    ----------
    file : str
        The name of the data.
    model : Model
        What scored them.
    tally : Tally
        What was kept of the rows.
    rule : FlagRule
        What made a row be flagged.
    flagging : Flagging
        What was asked for.
    notes : list of str
        What became of columns, missing values and rows.
    outputs : dict of str to str
        The files written.
    index : str or None
        The column that names the rows.
    kinds : tuple of str
        The kinds of faults to list; all if there are none.
    batch : str
        How the rows differ from those learned from, as a whole; empty if they do not.
    """

    file: str
    model: Model
    tally: Tally
    rule: FlagRule
    flagging: Flagging
    notes: list[str]
    outputs: dict[str, str]
    index: str | None
    kinds: tuple[str, ...] = ()
    batch: str = ""

    @property
    def threshold(self) -> float | None:
        """Rows with a higher score are flagged."""
        if self.rule.cut is None:
            return self.rule.threshold
        if self.tally.n_flagged == 0:
            return None
        highest = self.tally.highest_normal
        return highest if np.isfinite(highest) else None

    @property
    def decision(self) -> str:
        """How it was decided which rows to flag, in words."""
        wished = self.flagging
        if wished.fdr is not None:
            return f"at most {wished.fdr:.3g} of the alarms are expected to be false (--fdr)"
        if wished.flag_top is not None:
            return f"the {wished.flag_top:,} most anomalous rows (--flag-top)"
        if self.tally.n_beyond > self.tally.n_flagged:
            return (
                f"the most anomalous of {self.tally.n_beyond:,} rows beyond the threshold "
                f"{self.model.threshold:.4g} (--alarms {wished.alarms})"
            )
        chosen = self.model.detector.contamination
        if isinstance(chosen, str):
            rows = "rows learned from" if self.model.of_training_rows else "new rows"
            return f"the threshold for {rows} aims at 5 % of the normal ones (--contamination auto)"
        return f"{chosen:.3g} of the training rows are flagged (--contamination)"

    def records(self, n_rows: int, top: int | None) -> list[dict[str, Any]]:
        """Explain the `n_rows` most anomalous rows of the kinds wished for, by `top` columns."""
        rows = self.tally.top if self.kinds else self.tally.top[:n_rows]
        if not rows:
            return []
        explained = self.model.explain(np.stack([row.features for row in rows]), top)
        wanted = [
            (row, record)
            for row, record in zip(rows, explained, strict=True)
            if not self.kinds or record.get("kind") in self.kinds
        ]
        return [
            record
            | {"row": row.row, "score": row.score, "flagged": row.flagged, "p_value": row.p_value}
            | ({"index": row.label} if self.index else {})
            for row, record in wanted[:n_rows]
        ]

    def to_json(self, n_rows: int) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "file": self.file,
            "rows": self.tally.n_rows,
            "flagged": self.tally.n_flagged,
            "threshold": self.threshold,
            "decision": self.decision,
            "estimator": type(self.model.detector).__name__,
            "columns": self.model.encoding.features,
            "batch": self.batch,
            "notes": self.notes,
            "outputs": self.outputs,
            "top": self.records(n_rows, _REASONS),
        }

    def show(self, printer: Printer, n_rows: int) -> None:
        """Print everything for people."""
        tally, features = self.tally, self.model.encoding.features
        name = self.model.words
        if self.batch:
            printer.line(f"{self.file} is {self.batch}", style="bold")
        printer.line(f"{self.file}: {tally.n_rows:,} rows, {len(features)} features, {name}")
        for note in self.notes:
            printer.line(f"  - {note}")
        share = tally.n_flagged / max(tally.n_rows, 1)
        noun = "row" if tally.n_flagged == 1 else "rows"
        found = f"{tally.n_flagged:,} {noun} flagged ({share:.1%})"
        beyond = "" if self.threshold is None else f", score above {self.threshold:.4g}"
        printer.line(f"{found}{beyond}: {self.decision}", style="bold")
        self._show_top(printer, n_rows)
        for what, path in self.outputs.items():
            printer.line(f"{what}: {path}")

    def _show_top(self, printer: Printer, n_rows: int) -> None:
        records = self.records(n_rows, _REASONS)
        if not records:
            return
        labels = [self.index] if self.index else []
        header = ["row", *labels, "score", "p-value", "", "kind", "why"]
        printer.line()
        printer.table(header, [_cells(record, bool(self.index)) for record in records])
        printer.line()


def _cells(record: dict[str, Any], labelled: bool) -> list[str]:
    p_value = record["p_value"]
    return [
        str(record["row"]),
        *([record["index"] or ""] if labelled else []),
        f"{record['score']:.4g}",
        "" if p_value is None else f"{p_value:.2g}",
        "!" if record["flagged"] else "",
        record.get("kind", ""),
        record["sentence"],
    ]


def file_name(data: str | None) -> str:
    """Return the name by which people know the data."""
    if data is None:
        return "query"
    return "standard input" if data == "-" else Path(data).name
