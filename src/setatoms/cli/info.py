"""``setatoms info``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from setatoms.cli.options import json_option, model_argument


@click.command("info")
@model_argument
@json_option
def command(model: Path, as_json: bool) -> None:
    """Say what a saved model is, from its header alone."""
    from setatoms.cli.printing import Printer
    from setatoms.persistence import read_header
    from setatoms.terminal import print_json

    header = read_header(model)
    if as_json:
        print_json(header)
        return
    printer = Printer()
    for name, value in _facts(header):
        printer.line(f"{name + ':':12} {value}")


def _facts(header: dict[str, Any]) -> list[tuple[str, str]]:
    features, training = header["features"], header["training"]
    names = features["names"]
    listed = "" if names is None else ": " + ", ".join(name[:40] for name in names[:20])
    more = " ..." if names is not None and len(names) > 20 else ""
    rows = "?" if training["n_rows"] is None else f"{training['n_rows']:,}"
    error = "" if training["error"] is None else f", error {training['error']:.4g}"
    members = header["attributes"].get("members_")
    return [
        ("model", header["estimator"]),
        *([("members", str(len(members)))] if isinstance(members, list) else []),
        ("saved", header["saved"]),
        ("features", f"{features['count']}{listed}{more}"),
        ("training", f"{rows} rows, {training['iterations']} iterations{error}"),
        ("parameters", ", ".join(f"{k}={_short(v)}" for k, v in header["parameters"].items())),
        ("versions", ", ".join(f"{k} {v}" for k, v in header["versions"].items())),
        ("format", f"version {header['version']}"),
    ]


def _short(value: Any) -> str:
    return str(value) if not isinstance(value, (dict, list)) else str(value)[:40]
