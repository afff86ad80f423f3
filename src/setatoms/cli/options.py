"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

Function = Callable[..., Any]

# As in `setatoms.explain.evidence`, which takes longer to import than help should take.
KINDS = ("broken relation", "extreme value", "far out", "small group", "isolated")
METHODS = ("ensemble", "gaussian", "cone", "vector")
_FORMATS = ("csv", "tsv", "parquet", "json", "jsonl", "excel", "duckdb")


class Method(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """One of the methods that come with the library, or a kind of atoms that was added to it."""

    name = "method"

    def get_metavar(self, param: Any, ctx: Any = None) -> str:
        """Return the methods, for help."""
        return f"[{'|'.join(METHODS)}]"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the name of the method."""
        if value in METHODS:
            return str(value)
        from setatoms.learning.kinds import KINDS

        if value not in KINDS:
            self.fail(f"{value!r} is not one of {', '.join(dict.fromkeys((*METHODS, *KINDS)))}")
        return str(value)

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """Return the methods that begin so."""
        return [CompletionItem(name) for name in METHODS if name.startswith(incomplete)]


class Contamination(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """``auto``, or a share of rows."""

    name = "auto|SHARE"

    def convert(self, value: Any, param: Any, ctx: Any) -> str | float:
        """Return "auto" or a number."""
        if value == "auto" or isinstance(value, float):
            return value
        try:
            share = float(value)
        except ValueError:
            share = -1.0
        if not 0 < share <= 0.5:
            self.fail(f"{value!r} is neither auto nor a share above 0 and at most 0.5", param, ctx)
        return share


class Atoms(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A whole number of atoms, or a number for each feature."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | float:
        """Return an int for ``90`` and a float for ``3.0``, as detectors tell them apart."""
        try:
            number = int(value) if str(value).isdecimal() else float(value)
        except ValueError:
            number = -1
        if not 0 < number < float("inf"):
            self.fail(f"{value!r} is neither a number of atoms, as 90, nor one per feature, as 3.0")
        return number


@dataclass(frozen=True)
class Reading:
    """How to read the data; the names are those of `setatoms.files.ReadOptions`."""

    format: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    header: bool | None = None
    skip_rows: int | None = None
    footer: int | None = None
    comment: str | None = None
    missing: tuple[str, ...] = ()
    table: str | None = None
    query: str | None = None
    strict: bool = False


@dataclass(frozen=True)
class Flagging:
    """Which rows to flag; at most one of these, none for the model's own threshold."""

    fdr: float | None
    flag_top: int | None
    alarms: int | None

    def check(self) -> None:
        """Raise a UsageError if more than one way is wished for."""
        given = [f"--{f.name.replace('_', '-')}" for f in fields(self) if getattr(self, f.name)]
        if len(given) > 1:
            raise click.UsageError(f"{' and '.join(given)} exclude each other; give one of them")


@dataclass(frozen=True)
class Learning:
    """What to learn from the data, and how."""

    method: str
    budget: str | None
    atoms: int | float | None
    choose: bool
    contamination: str | float
    seed: int
    sample: int | None
    index: str | None
    drop: tuple[str, ...]
    use: tuple[str, ...]
    encode: tuple[str, ...]
    one_hot: bool
    jobs: int


# Parameters of the library by what sets them here.
_PARAMETERS = {
    "n_atoms": "--atoms",
    "contamination": "--contamination",
    "random_state": "--seed",
    "n_jobs": "--jobs",
}

FRACTION = click.FloatRange(0, 1, min_open=True, max_open=True)
FILE = click.Path(dir_okay=False, path_type=Path)

data_argument = click.argument("data", type=click.Path(allow_dash=True), required=False)
model_argument = click.argument("model", type=click.Path(path_type=Path))
index_option = click.option("--index", metavar="COL", help="Column that names the rows.")
top_option = click.option(
    "--top", type=click.IntRange(0), default=10, show_default=True, help="How many rows to list."
)
scheduler_option = click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Work on the Dask cluster whose scheduler is there, as tcp://host:8786; reads Parquet.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for machines.")


def _check_suffix(_: click.Context, __: click.Parameter, out: str | None) -> str | None:
    if out is not None and out.lower().endswith((".xlsx", ".xls", ".ods", ".json", ".jsonl")):
        raise click.BadParameter(f"scores are written as CSV or Parquet; name {out} .csv instead")
    return out


out_option = click.option(
    "--out",
    metavar="FILE",
    callback=_check_suffix,
    help="Write all rows and their scores: CSV, or Parquet by its name; - for standard output.",
)
keep_option = click.option(
    "--keep",
    metavar="COLS",
    multiple=True,
    help="Columns of DATA to write with --out, as a,b, or all of them: all.",
)
report_option = click.option("--report", type=FILE, metavar="FILE", help="Write an HTML page.")
kind_option = click.option(
    "--kind",
    "kinds",
    type=click.Choice(KINDS),
    multiple=True,
    help="List only rows with this kind of fault; may be repeated.",
)
exit_code_option = click.option(
    "--exit-code", is_flag=True, help="End with status 3 if rows are flagged."
)

_FLAGGING = (
    click.option(
        "--fdr",
        type=FRACTION,
        metavar="SHARE",
        help="Accept this share of false alarms among the rows flagged.",
    ),
    click.option(
        "--flag-top",
        type=click.IntRange(1),
        metavar="N",
        help="Flag the N most anomalous rows, whatever the threshold.",
    ),
    click.option(
        "--alarms",
        type=click.IntRange(1),
        metavar="N",
        help="Flag no more than N of the rows beyond the threshold; detect: 500 by default.",
    ),
)
_READING = (
    click.option("--format", type=click.Choice(_FORMATS), help="Format, if its name does not say."),
    click.option("--delimiter", metavar="CHAR", help="What separates cells (tab for a tab)."),
    click.option("--decimal", type=click.Choice([".", ","]), help="The decimal mark."),
    click.option("--thousands", metavar="CHAR", help="What groups thousands."),
    click.option("--encoding", metavar="NAME", help="Encoding of text, if it is not UTF-8."),
    click.option("--header/--no-header", default=None, help="Whether the first line has names."),
    click.option("--skip-rows", type=click.IntRange(0), metavar="N", help="Lines above the table."),
    click.option("--footer", type=click.IntRange(0), metavar="N", help="Lines below the table."),
    click.option("--comment", metavar="TEXT", help="What starts a line to leave out."),
    click.option("--missing", metavar="WORD", multiple=True, help="A further word for no value."),
    click.option("--table", metavar="NAME", help="Which table of a database, sheet of a workbook."),
    click.option("--query", metavar="SQL", help="Read what this selects, in place of DATA."),
    click.option("--strict", is_flag=True, help="Stop at a cell that is no number among numbers."),
)
_LEARNING = (
    click.option(
        "--method",
        type=Method(),
        default="ensemble",
        show_default=True,
        help="An ensemble of dictionaries, or one of this kind of atoms.",
    ),
    click.option(
        "--budget",
        type=click.Choice(["fast", "balanced", "best"]),
        help="How much time an ensemble may take.",
    ),
    click.option(
        "--atoms",
        type=Atoms(),
        metavar="N",
        help="How many atoms, as 90, or how many per feature, as 3.0.",
    ),
    click.option(
        "--choose",
        is_flag=True,
        help="First try what number of atoms, sparsity and radii suit the table; takes long.",
    ),
    click.option(
        "--contamination",
        type=Contamination(),
        default="auto",
        show_default=True,
        help="Share of rows to flag; auto aims at 5 % of normal rows.",
    ),
    index_option,
    click.option("--drop", metavar="COLS", multiple=True, help="Columns to leave out, as a,b."),
    click.option(
        "--use", metavar="COLS", multiple=True, help="Columns to take for measurements, as a,b."
    ),
    click.option(
        "--encode", metavar="COLS", multiple=True, help="Columns to make one-hot, as a,b."
    ),
    click.option("--one-hot", is_flag=True, help="Make all text columns with few values one-hot."),
    click.option(
        "--sample",
        type=click.IntRange(2),
        metavar="N",
        help="Learn from N random rows; by default all, if they fit in 256 MiB.",
    ),
    click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True),
    click.option("--jobs", type=int, default=-1, metavar="N", help="Threads; -1 takes all cores."),
)


def as_options(message: str) -> str:
    """Return what the library says with options in place of the parameters they stand for.

    Examples
    --------
    >>> as_options("n_atoms=4 is below the number of features; lower n_atoms")
    '--atoms 4 is below the number of features; lower --atoms'
    """
    for parameter, option in _PARAMETERS.items():
        message = re.sub(rf"\b{parameter}=", f"{option} ", message)
        message = re.sub(rf"\b{parameter}\b", option, message)
    return message


def reading_options(function: Function) -> Function:
    """Add the options on how to read, and pass them on as one `reading`."""
    return _gathered(function, _READING, "reading", Reading)


def flagging_options(function: Function) -> Function:
    """Add the options on what to flag, and pass them on as one `flagging`."""
    return _gathered(function, _FLAGGING, "flagging", Flagging)


def learning_options(function: Function) -> Function:
    """Add the options on what to learn, and pass them on as one `learning`."""
    return _gathered(function, _LEARNING, "learning", Learning)


def _gathered(
    function: Function, options: tuple[Function, ...], name: str, kind: type[Any]
) -> Function:
    @wraps(function)
    def gather(**words: Any) -> Any:
        words[name] = kind(**{field.name: words.pop(field.name) for field in fields(kind)})
        return function(**words)

    for option in reversed(options):
        gather = option(gather)
    return gather
