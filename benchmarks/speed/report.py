"""Show the lines: a table on the terminal, JSON, and the table of a Markdown page."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from benchmarks.markdown import table
from benchmarks.speed.lines import Line


@dataclass(frozen=True)
class Column:
    """One column of the table."""

    title: str
    width: int
    cell: Callable[[Line], str]
    left: bool = False


def _case(line: Line) -> str:
    return f"{line.part}: {line.case}"


def _rows(line: Line) -> str:
    return f"{line.rows:,}" if line.rows is not None else ""


def _rate(line: Line) -> str:
    if line.rate is None:
        return ""
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if line.rate >= unit:
            return f"{line.rate / unit:.3g} {name}"
    return f"{line.rate:.3g}"


def _seconds(line: Line) -> str:
    return f"{line.seconds:.3g}" if line.seconds is not None else ""


def _ratio(line: Line) -> str:
    if line.ratio is None:
        return ""
    return f"{line.ratio:,.0f} x" if line.ratio >= 100 else f"{line.ratio:.3g} x"


def _share(line: Line) -> str:
    return f"{line.share:.1%}" if line.share is not None else ""


def _goal(line: Line) -> str:
    if line.goal is None:
        return ""
    percent = line.goal.quantity == "share"
    least, aim = (
        f"{bound:.0%}" if percent else f"{bound:,g}" for bound in (line.goal.least, line.goal.aim)
    )
    bounds = least if least == aim else f"{least}; {aim}"
    return f"{line.goal.sign} {bounds}"


def _measured(line: Line) -> str:
    if line.goal is None or line.measured is None:
        return ""
    shown = {"ratio": _ratio(line), "share": _share(line)}
    return shown.get(line.goal.quantity, f"{line.goal.quantity} {line.measured:.3g}")


def _results(line: Line) -> str:
    if line.skipped is not None:
        return f"not run: {line.skipped}"
    return ", ".join(f"{name} {value:.4g}" for name, value in line.results.items())


COLUMNS = (
    Column("case", 31, _case, left=True),
    Column("contender", 25, lambda line: line.contender, left=True),
    Column("rows", 9, _rows),
    Column("signals/s", 9, _rate),
    Column("seconds", 8, _seconds),
    Column("ours is", 8, _ratio),
    Column("of dgemm", 8, _share),
    Column("least; aim", 14, _goal),
    Column("verdict", 7, lambda line: line.verdict),
    Column("result", 1, _results, left=True),
)


GOAL_COLUMNS = (
    Column("case", 0, _case, left=True),
    Column("contender", 0, lambda line: line.contender, left=True),
    Column("measured", 0, _measured),
    Column("least; aim", 0, _goal),
    Column("verdict", 0, lambda line: line.verdict),
)


def header() -> str:
    """Return the titles of the table for the terminal."""
    titles = [_pad(column.title, column) for column in COLUMNS]
    return "  ".join(titles).rstrip() + "\n" + "  ".join("-" * len(title) for title in titles)


def text_row(line: Line) -> str:
    """Return one line of the table for the terminal."""
    return "  ".join(_pad(column.cell(line), column) for column in COLUMNS).rstrip()


def _pad(cell: str, column: Column) -> str:
    return cell.ljust(column.width) if column.left else cell.rjust(column.width)


def tally(lines: Sequence[Line]) -> str:
    """Say how many goals were reached."""
    verdicts = [line.verdict for line in lines if line.verdict]
    reached = sum(verdict in ("aim", "pass") for verdict in verdicts)
    return (
        f"{reached} of {len(verdicts)} goals reached, {verdicts.count('aim')} of them to the aim; "
        f"{verdicts.count('FAIL')} missed, {verdicts.count('not run')} not run."
    )


def as_json(lines: Sequence[Line], about: Mapping[str, Any]) -> str:
    """Return all that is known of a run."""
    return json.dumps({**about, "lines": [_as_record(line) for line in lines]}, indent=1) + "\n"


def _as_record(line: Line) -> dict[str, Any]:
    goal = None if line.goal is None else {"sign": line.goal.sign, **asdict(line.goal)}
    derived = {"rate": line.rate, "goal": goal, "measured": line.measured, "verdict": line.verdict}
    return {**asdict(line), **derived}


def read_json(text: str) -> tuple[list[Line], dict[str, Any]]:
    """Return the lines of a run written by `as_json`, and what was said about it."""
    about = json.loads(text)
    names = {field.name for field in fields(Line)}
    records = about.pop("lines")
    lines = [Line(**{k: v for k, v in record.items() if k in names}) for record in records]
    return lines, about


def as_markdown(lines: Sequence[Line], about: Mapping[str, Any]) -> str:
    """Return what is known of a run as Markdown: its goals, then all lines."""
    held = [line for line in lines if line.goal is not None]
    return "\n\n".join(
        (
            _origin(about),
            f"### Goals\n\n{tally(lines)}",
            _markdown_table(GOAL_COLUMNS, held),
            "### All lines",
            _markdown_table(COLUMNS, lines),
        )
    )


def _markdown_table(columns: Sequence[Column], lines: Sequence[Line]) -> str:
    titles = [column.title for column in columns]
    rows = [[column.cell(line) for column in columns] for line in lines]
    return table(titles, rows, left=[i for i, column in enumerate(columns) if column.left])


def _origin(about: Mapping[str, Any]) -> str:
    machine = about["machine"]
    versions = ", ".join(
        f"{name} {number}" for name, number in machine["versions"].items() if number
    )
    caution = "" if about["complete"] else " **Not a complete run: for a look only.**"
    return (
        f"`{about['command']}` on {machine['date']}, commit {machine['commit']}.{caution}\n"
        f"{machine['processor']}, {about['settings']['threads']} of {machine['cores']} cores, "
        f"load {machine['load']} at the start; {machine['system']}, Python {machine['python']}; "
        f"{versions}."
    )
