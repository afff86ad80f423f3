"""Whether the column to blame is the corrupted one, and replacing it makes the row normal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks import markdown
from benchmarks.quality.options import Options
from benchmarks.quality.splits import DETECTORS, Split, mixed_split, tables, unwarned
from setatoms import SetAtomEnsemble

Array = NDArray[np.float64]
Columns = NDArray[np.intp]
# which rows were asked about, what was asked
Question = tuple[str, str]

STUDIED: dict[str, Any] = {**DETECTORS, "ensemble": SetAtomEnsemble}
SEED = 1
MOST_ROWS, MOST_ROWS_QUICK = 50, 20
DEVIATIONS = 3.0
# How far off absurd values are, and how near to the truth what was expected must be.
FAR, NEAR = 30.0, 2.0
REPLACED = 3
SHIFTED, SWAPPED = "shifted", "swapped"
CONTRIBUTION, REFILL, DIMENSIONS = "contribution", "refill", "O"
FIRST, FIRST_THREE = "first", "first three"
CORRUPTED, NORMAL, ANOMALIES = "corrupted", "normal", "anomalies"
EXPECTED = "expected"

# The least share of each, by what decides.
GOALS: dict[tuple[str, str, str], float] = {
    (SHIFTED, CONTRIBUTION, FIRST): 0.75,
    (SHIFTED, CONTRIBUTION, FIRST_THREE): 0.90,
    (SWAPPED, CONTRIBUTION, FIRST): 0.27,
    (SWAPPED, REFILL, FIRST): 0.35,
}
LEAST_RESCUED = 0.90
LEAST_EXPECTED = 0.95
WHO_TITLES = ["corrupted, ranked by", *STUDIED, "ECOD", "goal"]
EXPECTED_TITLES = [f"one value {FAR:g} standard deviations off", *STUDIED, "goal"]
RESCUE_TITLES = [f"flagged rows, k={REPLACED}", *STUDIED, "goal"]


class Corrupted(NamedTuple):
    """Normal test rows with one column changed, and which."""

    rows: Array
    columns: Columns
    truth: Array  # what stood there


class Answers:
    """Yes and no, by detector and question."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, ...], list[NDArray[np.bool_]]] = defaultdict(list)

    def add(self, hits: NDArray[np.bool_], *question: str) -> None:
        """Keep the answers for the rows of one table."""
        self._found[question].append(hits)

    def share(self, *question: str) -> float:
        """Return the share of hits in the rows of all tables, NaN if there were none."""
        hits = np.concatenate(self._found.get(question, [np.empty(0, bool)]))
        return float(hits.mean()) if len(hits) else np.nan

    def count(self, *question: str) -> int:
        """Return the number of answers."""
        return sum(map(len, self._found.get(question, [])))


def study(options: Options) -> str:
    """Run the study."""
    answers = Answers()
    most_rows = MOST_ROWS_QUICK if options.quick else MOST_ROWS
    for number, name in enumerate(tables(options.quick)):
        split = mixed_split(name, SEED)
        # a stream for each table: with the same one, luck would be the same on all of them
        corrupted = corrupt(split, most_rows, np.random.default_rng([SEED, number]))
        absurd = displace(split, corrupted[SHIFTED])
        for kind, make in STUDIED.items():
            detector = _fit(make(random_state=SEED), split.train)
            _ask_who(answers, kind, _places_of(detector, corrupted))
            _ask_rescue(answers, kind, detector, corrupted, split)
            answers.add(_expects(detector, absurd, split), kind, EXPECTED)
        _ask_who(answers, "ECOD", _places_of_ecod(split.train, corrupted))
        click.echo(f"{name} done")
    return _page(answers)


def corrupt(split: Split, most_rows: int, rng: np.random.Generator) -> dict[str, Corrupted]:
    """Return normal test rows with one column each shifted, and swapped for another row's."""
    normal = split.test[split.y_test == 0]
    rows = normal[rng.permutation(len(normal))[:most_rows]]
    deviations = split.train.std(axis=0)
    # a column must have another value to be swapped for
    varied = np.flatnonzero((normal != normal[0]).any(axis=0) & (deviations > 0))
    columns, each = rng.choice(varied, len(rows)), np.arange(len(rows))
    signs = rng.choice([-1.0, 1.0], len(rows))
    shifted, swapped = rows.copy(), rows.copy()
    shifted[each, columns] += DEVIATIONS * signs * deviations[columns]
    for i, j in zip(each, columns, strict=True):
        swapped[i, j] = rng.choice(normal[normal[:, j] != rows[i, j], j])
    truth = rows[each, columns]
    return {
        SHIFTED: Corrupted(shifted, columns, truth),
        SWAPPED: Corrupted(swapped, columns, truth),
    }


def displace(split: Split, shifted: Corrupted) -> Corrupted:
    """Return the rows that were shifted, the same values further off in the same direction."""
    rows, (at, columns) = shifted.rows.copy(), (np.arange(len(shifted.rows)), shifted.columns)
    signs = np.sign(rows[at, columns] - shifted.truth)
    rows[at, columns] = shifted.truth + FAR * signs * split.train.std(axis=0)[columns]
    return Corrupted(rows, columns, shifted.truth)


def _fit(detector: Any, train: Array) -> Any:
    with unwarned():
        return detector.fit(train)


def _places_of(
    detector: Any, corrupted: Mapping[str, Corrupted]
) -> Iterator[tuple[Question, Columns]]:
    """Yield the place of the corrupted column, from 0, in each row's explanation."""
    for how, (rows, columns, _) in corrupted.items():
        for rank in (CONTRIBUTION, REFILL):
            records = detector.explain(rows, top=None, rank=rank).records
            orders = [[int(entry["column"][1:]) for entry in r["columns"]] for r in records]
            yield (how, rank), _places(np.array(orders), columns)


def _expects(detector: Any, absurd: Corrupted, split: Split) -> NDArray[np.bool_]:
    """Tell where what is expected of the absurd value is near to what it was."""
    records = detector.explain(absurd.rows, top=None).records
    names = [f"x{j}" for j in absurd.columns]
    expected = [
        next(entry["expected"] for entry in record["columns"] if entry["column"] == name)
        for record, name in zip(records, names, strict=True)
    ]
    return np.abs(expected - absurd.truth) <= NEAR * split.train.std(axis=0)[absurd.columns]


def _places_of_ecod(
    train: Array, corrupted: Mapping[str, Corrupted]
) -> Iterator[tuple[Question, Columns]]:
    """Yield the same of PyOD's outlier scores by dimension."""
    from pyod.models.ecod import ECOD

    for how, (rows, columns, _) in corrupted.items():
        model = ECOD().fit(train)
        model.decision_function(rows)
        order = np.argsort(-model.O[-len(rows) :], axis=1, kind="stable")
        yield (how, DIMENSIONS), _places(order, columns)


def _places(orders: Columns, columns: Columns) -> Columns:
    return np.argmax(orders == columns[:, None], axis=1)


def _ask_who(
    answers: Answers,
    kind: str,
    places: Iterator[tuple[Question, Columns]],
) -> None:
    """Record how often the corrupted column comes first, and among the first three."""
    for (how, rank), place in places:
        answers.add(place == 0, kind, how, rank, FIRST)
        answers.add(place < REPLACED, kind, how, rank, FIRST_THREE)


def _ask_rescue(
    answers: Answers, kind: str, detector: Any, corrupted: Mapping[str, Corrupted], split: Split
) -> None:
    """Record how often flagged rows are below the threshold once three columns are replaced."""
    most = len(corrupted[SHIFTED].rows)
    groups = {how: each.rows for how, each in corrupted.items()}
    groups[NORMAL] = split.test[split.y_test == 0][:most]
    groups[ANOMALIES] = split.test[split.y_test == 1][:most]
    for group, rows in groups.items():
        flagged = rows[detector.predict(rows) == -1]
        if len(flagged):
            rescued = ~detector.counterfactual(flagged, k=REPLACED).flagged_after
            answers.add(rescued, kind, group, "rescued")
            if group in corrupted:
                answers.add(rescued, kind, CORRUPTED, "rescued")


def _page(answers: Answers) -> str:
    who = markdown.table(WHO_TITLES, list(_who_rows(answers)))
    cells = [_cell(answers.share(kind, EXPECTED), LEAST_EXPECTED) for kind in STUDIED]
    words = f"what is expected is within {NEAR:g} of the truth"
    expected = markdown.table(EXPECTED_TITLES, [[words, *cells, f"≥ {LEAST_EXPECTED:.0%}"]])
    return f"{who}\n\n{expected}\n\n{markdown.table(RESCUE_TITLES, list(_rescue_rows(answers)))}"


def _who_rows(answers: Answers) -> Iterator[list[str]]:
    for how in (SHIFTED, SWAPPED):
        for rank in (CONTRIBUTION, REFILL):
            for place in (FIRST, FIRST_THREE):
                goal = GOALS.get((how, rank, place))
                shares = [answers.share(kind, how, rank, place) for kind in STUDIED]
                ecod = answers.share("ECOD", how, DIMENSIONS, place)
                cells = [_cell(share, goal) for share in shares]
                aim = "" if goal is None else f"≥ {goal:.0%}"
                yield [f"{how}, {rank}: {place}", *cells, f"{ecod:.1%}", aim]


def _rescue_rows(answers: Answers) -> Iterator[list[str]]:
    says = {
        CORRUPTED: "one corrupted column",
        SHIFTED: "- shifted",
        SWAPPED: "- swapped",
        NORMAL: "normal, as they came",
        ANOMALIES: "all relations broken",
    }
    for group, words in says.items():
        goal = LEAST_RESCUED if group == CORRUPTED else None
        asked = [(kind, group, "rescued") for kind in STUDIED]
        cells = [_cell(answers.share(*each), goal, answers.count(*each)) for each in asked]
        yield [words, *cells, "" if goal is None else f"≥ {goal:.0%}"]


def _cell(share: float, goal: float | None, count: int | None = None) -> str:
    shown = f"{share:.1%}" if count is None else f"{share:.1%} of {count}"
    return shown if goal is None else f"{shown} {markdown.verdict(share >= goal)}"
