"""What studies share to be called and to show their figures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path


def parse(
    name: str, about: str, arguments: Sequence[str], *, keeps: bool = False
) -> argparse.Namespace:
    """Read the options that every study has, and those of a study that keeps what it has done."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.quality {name}", description=about)
    parser.add_argument("--quick", action="store_true", help="three small tables, one seed")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="Markdown page to put them into")
    if keeps:
        parser.add_argument(
            "--keep",
            type=Path,
            metavar="DIR",
            default=Path("setatoms-bench"),
            help="folder of tables and finished figures, such as that of setatoms bench run",
        )
        parser.add_argument("--jobs", type=int, default=-1, metavar="N", help="threads")
    return parser.parse_args(arguments)


def table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, its first column to the left."""
    marks = [":--", *["--:"] * (len(titles) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (titles, marks, *rows))


def verdict(holds: bool) -> str:
    """Return how a goal ended."""
    return "pass" if holds else "**FAIL**"


def publish(name: str, text: str, page: Path | None) -> None:
    """Print the figures of a study; put them between its marks on a page, if there is one."""
    print(text)
    if page is None:
        return
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    old = page.read_text(encoding="utf-8")
    if old.count(begin) != 1 or old.count(end) != 1:
        raise ValueError(f"{page} must hold {begin} and {end} once each, to mark where figures go")
    before, rest = old.split(begin)
    page.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}", encoding="utf-8")
