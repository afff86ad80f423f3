"""Fill the HTML page."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import numpy as np

from setatoms import __version__
from setatoms.cli.models import Model
from setatoms.cli.reading import Data
from setatoms.cli.results import Results
from setatoms.files import feature_chunks
from setatoms.report import AtomTable, ReportData, write_report
from setatoms.versions import find_versions

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "duckdb")


def write_page(path: Path, results: Results, data: Data, n_rows: int) -> None:
    """Write the report on a run to `path`.

    Parameters
    ----------
    path : Path
        The page.
    results : Results
        What was found, with all scores kept.
    data : Data
        The data, for their fingerprint.
    n_rows : int
        How many rows to explain.
    """
    detector = results.model.detector
    table = _atoms(results.model, data)
    page = ReportData(
        file_name=results.file,
        columns=results.model.encoding.features,
        scores=np.concatenate([np.empty(0), *results.tally.scores]),
        flagged=np.concatenate([np.empty(0, np.bool_), *results.tally.flags]),
        threshold=results.threshold,
        top_rows=_numbered(results.records(n_rows, top=None), table),
        center=detector.standardizer_.mean,
        scale=detector.standardizer_.scale,
        method=results.model.words,
        decision=results.decision,
        atoms=table,
        parameters=detector.get_params(deep=False),
        versions={"setatoms": __version__} | find_versions(_PACKAGES),
        fingerprint="" if data.source is None else f"sha256:{data.source.fingerprint()}",
        command=_command(),
        created=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        times=np.concatenate(results.tally.times) if results.tally.times else None,
        time_name=data.table.time_column or "",
        notes=[*filter(None, [results.batch]), *results.notes],
    )
    write_report(path, page)


def _atoms(model: Model, data: Data) -> AtomTable:
    """Return the atoms of all dictionaries, with the share of the first rows that use each."""
    features, *_ = next(feature_chunks(data.table, model.encoding))
    dictionaries = model.detector.dictionaries_
    return AtomTable(
        np.concatenate([dictionary.atoms for dictionary in dictionaries]),
        np.concatenate([dictionary.radii for dictionary in dictionaries]),
        np.concatenate(model.atom_usage(features)),
        sizes=tuple(len(dictionary.atoms) for dictionary in dictionaries),
    )


def _numbered(records: Iterable[dict[str, Any]], table: AtomTable) -> list[dict[str, Any]]:
    """Return records whose atoms are numbered as in the table, through all dictionaries."""
    firsts = np.cumsum([0, *table.sizes])
    return [
        record
        | {
            "atoms": [
                atom | {"atom": int(firsts[atom.get("member", 0)]) + atom["atom"]}
                for atom in record["atoms"]
            ]
        }
        for record in records
    ]


def _command() -> str:
    """Return what the user typed."""
    context = click.get_current_context(silent=True)
    words = context.find_root().obj if context is not None else None
    return shlex.join(["setatoms", *words]) if words else ""
