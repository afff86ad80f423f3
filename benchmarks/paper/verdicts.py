"""Tables of the tests and of the orderings that the paper claims."""

from __future__ import annotations

from itertools import groupby

from benchmarks.paper.comparisons import (
    Ordering,
    PairTest,
    adaptation_tests,
    baseline_tests,
    check_orderings,
)
from benchmarks.paper.layout import Column, Entry, Table, number
from benchmarks.paper.results import Results

SIGNIFICANT = 0.05


def significance_tables(results: Results) -> list[Table]:
    """Return both families of Wilcoxon tests."""
    return [
        _test_table("Adaptive radii against fixed radii", adaptation_tests(results)),
        _test_table("Our methods against the best baselines", baseline_tests(results)),
    ]


def ordering_tables(results: Results) -> list[Table]:
    """Return a summary of the paper's orderings, and those that do not hold here."""
    orderings = check_orderings(results)
    return [summarise_orderings(orderings), list_orderings(orderings, only_exceptions=True)]


def summarise_orderings(orderings: list[Ordering]) -> Table:
    """Return for each claim in how many of its cases it holds."""
    rows = []
    for claim, group in groupby(orderings, key=lambda ordering: ordering.claim):
        cases = list(group)
        gains = [case.gain for case in cases if case.gain is not None]
        holding = sum(bool(case.holds) for case in cases)
        rows.append(
            [
                Entry(claim),
                Entry(_verdict(holding, len(gains), len(cases))),
                number(holding, 0),
                number(len(gains), 0),
                number(sum(gain.low > 0 for gain in gains), 0),
                _signed(min((gain.mean for gain in gains), default=None)),
                _signed(max((gain.mean for gain in gains), default=None)),
            ]
        )
    names = ("claim", "verdict", "holds in", "of cases", "beyond doubt", "least gain", "greatest")
    notes = [
        "A case is a configuration, or for Gaussian atoms and cones a pair of methods. It holds if",
        "the mean gain over datasets is positive, beyond doubt if its 95 % bootstrap interval is.",
    ]
    return Table("The paper's orderings", [Column(name) for name in names], rows, notes)


def list_orderings(orderings: list[Ordering], *, only_exceptions: bool = False) -> Table:
    """Return the cases of all claims, or those that do not hold, with confidence intervals."""
    shown = [o for o in orderings if o.holds is False or not only_exceptions]
    rows = [
        [
            Entry(ordering.better),
            Entry(ordering.worse),
            Entry("ROC AUC" if ordering.quantity == "auc" else "error"),
            Entry(ordering.config),
            Entry({True: "yes", False: "NO", None: "-"}[ordering.holds]),
            *_interval_cells(ordering),
        ]
        for ordering in shown
    ]
    names = ("better by claim", "than", "in", "configuration", "holds", "gain", "95 % interval")
    title = "Orderings that do not hold here" if only_exceptions else "Every case of the orderings"
    notes = [] if rows else ["None: every ordering that could be compared holds."]
    return Table(title, [Column(name) for name in (*names, "datasets")], rows, notes)


def _test_table(title: str, tests: list[PairTest]) -> Table:
    rows = [
        [
            Entry(test.first),
            Entry(test.second),
            _signed(test.gain.mean),
            Entry(f"{test.gain.low:+.4f} to {test.gain.high:+.4f}", test.gain.low),
            Entry(f"{test.wins}/{test.losses}/{test.gain.n_datasets}", float(test.wins)),
            Entry(f"{test.p_value:.2g}", test.p_value),
            Entry(
                f"{test.corrected:.2g}",
                test.corrected,
                "best" if test.corrected < SIGNIFICANT else "",
            ),
        ]
        for test in tests
    ]
    names = ("method", "against", "gain in AUC", "95 % interval", "won/lost/all", "p", "p (Holm)")
    notes = [
        "Two-sided Wilcoxon signed-rank tests over datasets, on averages over configurations;",
        f"Holm's correction over the {len(tests)} tests here; marked if below {SIGNIFICANT}.",
    ]
    return Table(f"{title} (Wilcoxon)", [Column(name) for name in names], rows, notes)


def _verdict(holding: int, compared: int, cases: int) -> str:
    if not compared:
        return "not run"
    if holding < compared:
        return "fails"
    return "holds" if compared == cases else "holds so far"


def _signed(value: float | None) -> Entry:
    return Entry("-") if value is None else Entry(f"{value:+.4f}", value)


def _interval_cells(ordering: Ordering) -> list[Entry]:
    gain = ordering.gain
    if gain is None:
        return [Entry("-"), Entry("-"), Entry("0", 0.0)]
    return [
        _signed(gain.mean),
        Entry(f"{gain.low:+.4f} to {gain.high:+.4f}", gain.low),
        number(gain.n_datasets, 0),
    ]
