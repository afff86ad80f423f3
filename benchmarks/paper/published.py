"""What the paper reports: its methods, its grid of configurations, the numbers of its tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

from benchmarks.paper import baselines
from benchmarks.paper.configurations import CONE_GRID, GAUSSIAN_GRID

Measure = Literal["auc", "rank", "error"]

VECTOR_METHOD = "AK-SVD + OMP"
GAUSSIAN_METHODS = ("Gauss-L1", "DL-Gauss-L1", "DLG-L1-adapt (0-norm)", "DLG-L1-adapt (1-norm)")
CONE_METHODS = (
    "Cone-DL",
    "Cone-DL-D",
    "DLC-adapt (0-norm)",
    "DLC-adapt (1-norm)",
    "DLC-D-adapt (0-norm)",
    "DLC-D-adapt (1-norm)",
)
SET_ATOM_METHODS = GAUSSIAN_METHODS + CONE_METHODS
BASELINES = tuple(baseline.name for baseline in baselines.BASELINES)

# An adaptive method -> the same method with radii drawn once.
TWINS = {
    "DLG-L1-adapt (0-norm)": "DL-Gauss-L1",
    "DLG-L1-adapt (1-norm)": "DL-Gauss-L1",
    "DLC-adapt (0-norm)": "Cone-DL",
    "DLC-adapt (1-norm)": "Cone-DL",
    "DLC-D-adapt (0-norm)": "Cone-DL-D",
    "DLC-D-adapt (1-norm)": "Cone-DL-D",
}

# The 18 configurations by the names of the store; the same place means the same place in a table.
GAUSSIAN_CONFIGS = tuple(configuration.name for configuration in GAUSSIAN_GRID)
CONE_CONFIGS = tuple(configuration.name for configuration in CONE_GRID)


@dataclass(frozen=True)
class PaperTable:
    """One of the paper's six tables.

    Attributes
    ----------
    number : int
        From 1 to 6.
    caption : str
        As printed.
    measure : {"auc", "rank", "error"}
        What is averaged over the datasets.
    methods : tuple of str
        The blocks of rows.
    sizes : tuple of str
        The row of each n/m ratio within a block, as ``"n2.5"``.
    columns : tuple of str
        Radii and distribution, as ``"r0.04-0.12 linear"``.
    """

    number: int
    caption: str
    measure: Measure
    methods: tuple[str, ...]
    sizes: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield (method, size) from top to bottom."""
        return ((method, size) for method in self.methods for size in self.sizes)

    def value(self, method: str, size: str, column: str) -> float:
        """Return the number the paper prints there."""
        printed = _facts()["tables"][str(self.number)]
        return float(printed["rows"][method][size][self.columns.index(column)])


@cache
def paper_tables() -> tuple[PaperTable, ...]:
    """Return the six tables in the paper's order."""
    captions: tuple[tuple[str, Measure], ...] = (
        ("Average ROC AUC values for Gaussian DL algorithms", "auc"),
        ("Average ranks for Gaussian DL algorithms", "rank"),
        ("Average representation errors for Gaussian DL algorithms", "error"),
        ("Average ROC AUC values for cone DL algorithms", "auc"),
        ("Average rank for cone DL algorithms", "rank"),
        ("Average representation errors for cone DL algorithms", "error"),
    )
    return tuple(
        _table(number, caption, measure) for number, (caption, measure) in enumerate(captions, 1)
    )


def configurations(method: str) -> tuple[str, ...]:
    """Return the 18 configurations of a set-atom method.

    Examples
    --------
    >>> configurations("Cone-DL")[:2]
    ('n2 r0.01-0.1 linear', 'n2 r0.01-0.1 50-50')
    """
    return GAUSSIAN_CONFIGS if method in GAUSSIAN_METHODS else CONE_CONFIGS


def reported(method: str, measure: Measure, config: str = "default") -> float | None:
    """Return what the paper's text says of a method outside its tables, if it does.

    Examples
    --------
    >>> reported("COF", "auc", "k10")
    0.9303
    """
    name = method if config == "default" else f"{method} {config}"
    value = _facts()["baselines"].get(name, {}).get(measure)
    return None if value is None else float(value)


def printed_values(method: str, measure: Measure) -> list[float]:
    """Return all numbers of a method in the paper's table of `measure`; none if it has no row."""
    return [
        table.value(method, size, column)
        for table in paper_tables()
        if table.measure == measure and method in table.methods
        for size in table.sizes
        for column in table.columns
    ]


def _table(number: int, caption: str, measure: Measure) -> PaperTable:
    printed = _facts()["tables"][str(number)]
    methods = tuple(printed["rows"])
    sizes = tuple(printed["rows"][methods[0]])
    return PaperTable(number, caption, measure, methods, sizes, tuple(printed["columns"]))


@cache
def _facts() -> Any:
    """Return the content of ``paper_tables.json``."""
    file = resources.files("benchmarks.paper") / "paper_tables.json"
    return json.loads(file.read_text(encoding="utf-8"))
