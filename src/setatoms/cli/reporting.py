"""Fill the HTML page."""

from __future__ import annotations

import shlex
from datetime import datetime
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from setatoms import __version__
from setatoms.cli.models import WORDS, Model
from setatoms.cli.reading import Data
from setatoms.cli.results import Results
from setatoms.files import feature_chunks
from setatoms.report import AtomTable, ReportData, write_report
from setatoms.versions import find_versions

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow")


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
    page = ReportData(
        file_name=results.file,
        columns=results.model.encoding.features,
        scores=np.concatenate([np.empty(0), *results.tally.scores]),
        flagged=np.concatenate([np.empty(0, np.bool_), *results.tally.flags]),
        threshold=results.threshold,
        top_rows=results.records(n_rows, top=None),
        center=detector.standardizer_.mean,
        scale=detector.standardizer_.scale,
        method=WORDS[type(detector).__name__],
        decision=results.decision,
        atoms=AtomTable(detector.components_, detector.radii_, _usage(results.model, data)),
        parameters=detector.get_params(deep=False),
        versions={"setatoms": __version__} | find_versions(_PACKAGES),
        fingerprint=f"sha256:{data.source.fingerprint()}",
        command=_command(),
        created=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        notes=results.notes,
    )
    write_report(path, page)


def _usage(model: Model, data: Data) -> NDArray[np.float64]:
    """Return the share of the first rows that use each atom."""
    features, _ = next(feature_chunks(data.table, model.encoding))
    detector = model.detector
    codes = detector.kind_.code(
        detector._signals(features), detector.components_, detector.radii_, n_jobs=detector.n_jobs
    )
    used = np.bincount(codes.coefficients.indices, minlength=len(detector.components_))
    return np.asarray(used / len(features), np.float64)


def _command() -> str:
    """Return what the user typed."""
    context = click.get_current_context(silent=True)
    words = context.find_root().obj if context is not None else None
    return shlex.join(["setatoms", *words]) if words else ""
