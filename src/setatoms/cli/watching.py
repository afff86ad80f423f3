"""Score rows as they come, and keep where the stream stands."""

from __future__ import annotations

import time
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setatoms.cli.lines import LineReader
from setatoms.cli.models import Model
from setatoms.estimators.stream_state import BLOCK_ROWS
from setatoms.files import FileError
from setatoms.files.records import LineParser
from setatoms.persistence import read_header
from setatoms.terminal import print_json_lines

Array = NDArray[np.float64]

BATCH_ROWS = 1_000
# The state is saved after so many rows, or so many seconds with rows in them.
SAVE_ROWS, SAVE_SECONDS = 2_000, 1.0


@dataclass(frozen=True)
class WatchWishes:
    """What to do with the rows.

    Attributes
    ----------
    learn : bool
        Whether the model follows them.
    top : int
        How many columns to name of a flagged row.
    strict : bool
        Whether to stop at a line that is no row.
    state : Path or None
        Where to keep model and place.
    replay : bool
        Whether the input begins again with lines that the state has seen.
    """

    learn: bool
    top: int
    strict: bool
    state: Path | None
    replay: bool


@dataclass
class Place:
    """Where the stream stands.

    Attributes
    ----------
    model : str
        The checksum of the model that it began with.
    lines, rows : int
        How many lines and rows there were.
    alarm : int
        The row of the last alarm, 0 if there was none.
    header, delimiter : list of str or None, and str
        What names and separates cells.
    """

    model: str
    lines: int = 0
    rows: int = 0
    alarm: int = 0
    header: list[str] | None = None
    delimiter: str = ","

    @classmethod
    def of_state(cls, path: Path, model: str) -> Place:
        """Return where a state file stands, if it is one of this model."""
        plain = read_header(path).get("notes", {}).get("watch")
        forms = {"model": str, "lines": int, "rows": int, "alarm": int, "delimiter": str}
        known = isinstance(plain, dict) and plain.keys() == {*forms, "header"}
        if not known or not all(type(plain[name]) is form for name, form in forms.items()):
            raise ValueError(f"{path} is no state of setatoms watch; give --state another file")
        header = plain["header"]
        named = isinstance(header, list) and all(isinstance(name, str) for name in header)
        if not (named or header is None) or len(plain["delimiter"]) != 1:
            raise ValueError(f"{path} does not say how cells are named; give --state another file")
        if plain["model"] != model:
            raise ValueError(
                f"{path} was begun with another model; give that one, or --state another file"
            )
        return cls(**plain)


class Watch:
    """A model that scores rows as they come.

    Parameters
    ----------
    model : Model
        The model.
    place : Place
        Where the stream stands.
    wishes : WatchWishes
        What to do with the rows.
    """

    def __init__(self, model: Model, place: Place, wishes: WatchWishes) -> None:
        self._model = model
        self._place = place
        self._wishes = wishes
        self._parser = LineParser(model.encoding, place.header, place.delimiter)
        self._saved_at, self._saved_lines = time.monotonic(), place.lines
        self._to_skip = place.lines if wishes.replay else 0

    def run(self, reader: LineReader) -> None:
        """Score all rows that a reader gives."""
        while not reader.ended:
            lines = reader.take(BATCH_ROWS, self._patience())
            if lines:
                self._take_in(self._skip(lines))
            self._save_if_due()
        self._save()

    def _patience(self) -> float | None:
        """Return for how many seconds to wait for lines: for ever, if there is nothing to save."""
        if self._wishes.state is None or self._saved_lines == self._place.lines:
            return None
        return max(0.0, self._saved_at + SAVE_SECONDS - time.monotonic())

    def _skip(self, lines: list[bytes | None]) -> list[bytes | None]:
        """Return the lines that the state has not seen."""
        n_old = min(self._to_skip, len(lines))
        self._to_skip -= n_old
        return lines[n_old:]

    def _take_in(self, lines: list[bytes | None]) -> None:
        """Answer to lines, in their order."""
        answers: list[dict[str, Any]] = []
        rows: list[list[float]] = []
        failed: FileError | None = None
        for line in lines:
            self._place.lines += 1
            try:
                numbers = self._parse(line)
            except FileError as error:
                answers.append({"line": self._place.lines, "error": str(error)})
                if self._wishes.strict:
                    failed = FileError(f"line {self._place.lines}: {error}")
                    break
                continue
            if numbers is not None:
                rows.append(numbers)
                answers.append({"row": self._place.rows + len(rows)})
        if rows:
            self._judge_all(np.array(rows), [answer for answer in answers if "row" in answer])
            answers += self._alarms()
        self._place.header, self._place.delimiter = self._parser.header, self._parser.delimiter
        print_json_lines(answers)
        if failed is not None:
            self._save()
            raise failed

    def _parse(self, line: bytes | None) -> list[float] | None:
        if line is None:
            raise FileError("longer than a megabyte")
        return self._parser.parse(line.decode("utf-8", "replace"))

    def _judge_all(self, numbers: Array, answers: list[dict[str, Any]]) -> None:
        """Judge rows up to the end of each block, so that answers do not depend on batches."""
        features, start = self._model.encoding.expand(numbers), 0
        while start < len(features):
            stop = start + self._rows_to_block_end()
            self._judge(features[start:stop], answers[start:stop])
            start = stop

    def _rows_to_block_end(self) -> int:
        stream = getattr(self._model.detector, "stream_", None)
        return BLOCK_ROWS - (0 if stream is None else len(stream.rows))

    def _judge(self, features: Array, answers: list[dict[str, Any]]) -> None:
        """Add score and decision to the answer of each row, by the model before it learns."""
        before = Model(copy(self._model.detector), self._model.encoding)
        scores = self._model.follow(features, learn=self._wishes.learn)
        flagged, p_values = scores > before.threshold, before.p_values(scores)
        for i, answer in enumerate(answers):
            answer |= {"score": float(scores[i]), "flagged": bool(flagged[i])}
            if p_values is not None:
                answer["p_value"] = float(p_values[i])
        self._explain(before, features, np.flatnonzero(flagged), answers)
        self._place.rows += len(features)

    def _explain(
        self,
        model: Model,
        features: Array,
        rows: NDArray[np.intp],
        answers: list[dict[str, Any]],
    ) -> None:
        """Say of flagged rows what is wrong with them."""
        if self._wishes.top == 0 or not len(rows):
            return
        records = model.explain(features[rows], self._wishes.top, atoms=False)
        for i, record in zip(rows, records, strict=True):
            if "kind" in record:
                answers[i]["kind"] = record["kind"]
            answers[i]["columns"] = [column["column"] for column in record["columns"]]

    def _alarms(self) -> list[dict[str, Any]]:
        """Return a line on an alarm that has not been told of."""
        detector, place = self._model.detector, self._place
        drift = detector.drift_
        if not drift.alarm:
            return []
        row = drift.alarm_row - (detector.n_samples_fit_ - place.rows)
        if row <= place.alarm:
            return []
        place.alarm = row
        moved = {"atoms": drift.atoms, "use": drift.use, "radii": drift.radii}
        return [{"alarm": "change", "row": row, "evidence": drift.evidence, "moved": moved}]

    def _save_if_due(self) -> None:
        waited = time.monotonic() - self._saved_at >= SAVE_SECONDS
        if waited or self._place.lines - self._saved_lines >= SAVE_ROWS:
            self._save()

    def _save(self) -> None:
        place = self._place
        if self._wishes.state is not None and place.lines > self._saved_lines:
            notes = {"table": self._model.encoding.to_json(), "watch": vars(place)}
            self._model.detector.save(self._wishes.state, notes=notes)
            self._saved_lines = place.lines
        self._saved_at = time.monotonic()
