"""Read stores of results, whoever may be writing to them."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.environment import Environment
from benchmarks.paper.results import Failure, Key, Results, Run, mean_of
from benchmarks.paper.store import FILE_NAME, VERSION
from setatoms.terminal import printable

Stores = str | Path | Sequence[str | Path]

_LONGEST = 100_000

_Values = Sequence[float | None] | None


def load_results(stores: Stores, anomalies: str = "dependency") -> Results:
    """Read the cells of one kind of anomalies.

    Parameters
    ----------
    stores : path-like or sequence of path-like
        A folder that holds ``results.sqlite``, or an SQLite file, or several of them: a cell that
        is in more than one is taken from the last. They are opened read-only.
    anomalies : str, default="dependency"
        The kind of anomalies.
    """
    rows = _query(
        stores,
        "SELECT method, config, dataset, seed, status, reason, auc, ap, error, seconds "
        "FROM cells WHERE anomalies = ? ORDER BY method, config, dataset, seed",
        anomalies,
    )
    if not rows:
        names = ", ".join(map(str, store_files(stores)))
        kinds = ", ".join(anomaly_kinds(stores)) or "none at all"
        raise ValueError(f"{names} has no cells with anomalies={anomalies!r}; it has {kinds}")
    starts: dict[tuple[Key, str, int], list[_Values]] = defaultdict(list)
    failures = []
    cells = {row[:4]: row[4:] for row in rows}
    for (method, config, dataset, seed), (status, reason, *values) in cells.items():
        _check_types(stores, method, config, dataset, seed, values)
        # further starts are the same configuration once more
        name = re.sub(r" start\d+$", "", config)
        if status != "ok":
            why = reason or "no reason recorded"
            failures.append(Failure(method, name, dataset, seed, why))
        starts[(method, name), dataset, seed].append(values if status == "ok" else None)
    runs: dict[Key, dict[str, dict[int, Run]]] = defaultdict(lambda: defaultdict(dict))
    for (key, dataset, seed), outcomes in starts.items():
        runs[key][dataset][seed] = _average_starts(outcomes)
    return Results(anomalies, {k: dict(by) for k, by in runs.items()}, failures)


def anomaly_kinds(stores: Stores) -> list[str]:
    """Return the kinds of anomalies that stores have cells of, the paper's first."""
    kinds = {kind for (kind,) in _query(stores, "SELECT DISTINCT anomalies FROM cells")}
    if not all(isinstance(kind, str) for kind in kinds):
        names = ", ".join(map(str, store_files(stores)))
        raise ValueError(
            f"{names} has cells whose kind of anomalies is no text; delete them, or compute them "
            "again in a new folder"
        )
    return sorted(kinds, key=lambda kind: (kind != "dependency", kind))


def load_environments(stores: Stores) -> list[Environment]:
    """Return what the cells of stores were computed with."""
    rows = _query(stores, "SELECT commit_hash, versions, hardware FROM environments ORDER BY id")
    try:
        return [
            Environment(str(commit), _object(versions), _object(hardware))
            for commit, versions, hardware in rows
        ]
    except (TypeError, ValueError) as error:
        names = ", ".join(map(str, store_files(stores)))
        raise ValueError(
            f"{names} says in another form than JSON what its cells were computed with ({error}); "
            "compute them again in a new folder"
        ) from error


def _object(text: str | None) -> dict[str, Any]:
    value = json.loads(text or "{}")
    if not isinstance(value, dict):
        raise TypeError(f"{value!r:.40} is no object")
    return value


def _check_types(
    stores: Stores, method: Any, config: Any, dataset: Any, seed: Any, values: Sequence[Any]
) -> None:
    """Raise if a cell is not what a run writes: SQLite takes anything anywhere."""
    named = all(isinstance(name, str) for name in (method, config, dataset))
    measured = all(
        value is None or (isinstance(value, float | int) and math.isfinite(value))
        for value in values
    )
    if not named or not isinstance(seed, int) or not measured:
        names = ", ".join(map(str, store_files(stores)))
        raise ValueError(
            f"{names} has a cell whose values are not finite numbers: {method} ({config}) on "
            f"{dataset}, seed {seed}, has {values}; delete that cell, or compute it again in a new "
            "folder"
        )


def store_files(stores: Stores) -> list[Path]:
    """Return the SQLite files that are meant."""
    return [_store_file(path) for path in ([stores] if isinstance(stores, str | Path) else stores)]


def _store_file(path: str | Path) -> Path:
    """Return the SQLite file meant by `path`, a folder with ``results.sqlite`` or the file."""
    given = Path(path)
    file = given / FILE_NAME if given.is_dir() else given
    if not file.is_file():
        raise FileNotFoundError(
            f"there is no store of results at {file}; make one with "
            "`python -m benchmarks paper run --out DIR`"
        )
    return file


def _average_starts(outcomes: list[_Values]) -> Run:
    """Return the average of what several starts gave, None standing for a failed one."""
    given = [values for values in outcomes if values is not None]
    columns = zip(*given, strict=True) if given else ((),) * 4
    auc, ap, error, seconds = (mean_of(column) for column in columns)
    return Run(auc, ap, error, seconds, len(given) < len(outcomes), len(outcomes))


def _query(stores: Stores, statement: str, *values: str) -> list[tuple[Any, ...]]:
    """Return the rows that a statement which only reads finds in one store after the other."""
    found = [row for file in store_files(stores) for row in _query_file(file, statement, values)]
    # names and reasons end up on terminals
    return [
        tuple(printable(v, _LONGEST) if isinstance(v, str) else v for v in row) for row in found
    ]


def _query_file(file: Path, statement: str, values: Sequence[str]) -> list[tuple[Any, ...]]:
    address = f"{file.resolve().as_uri()}?mode=ro"
    try:
        # a runner locks the store for the moment of each commit
        with closing(sqlite3.connect(address, uri=True, timeout=60)) as store:
            (version,) = store.execute("PRAGMA user_version").fetchone()
            rows = store.execute(statement, values).fetchall() if version <= VERSION else []
    except sqlite3.DatabaseError as error:
        raise ValueError(
            f"{file} cannot be read as a store of results ({error}); give the folder that "
            "`paper run --out` wrote, and if its runner was killed, resume it first"
        ) from error
    if version > VERSION:
        raise ValueError(
            f"{file} has version {version}, this setatoms knows {VERSION}; update setatoms"
        )
    return rows
