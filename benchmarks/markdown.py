"""Tables in Markdown, and the place of figures on a page."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import numpy as np

from setatoms.persistence.atomic import replacing


def pipes(rows: Iterable[Sequence[str]]) -> str:
    """Return rows of cells as lines.

    Examples
    --------
    >>> pipes([["a", "b"]])
    '| a | b |'
    """
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def table(
    titles: Sequence[str], rows: Iterable[Sequence[str]], left: Collection[int] = (0,)
) -> str:
    """Return a table whose columns `left` stand to the left, the others to the right."""
    marks = [":--" if i in left else "--:" for i in range(len(titles))]
    return pipes([titles, marks, *rows])


def verdict(holds: bool | np.bool) -> str:
    """Return how a goal ended."""
    return "pass" if holds else "**FAIL**"


def fill_page(page: Path, name: str, text: str) -> None:
    """Replace what stands between the marks of that name on a page."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    old = page.read_text(encoding="utf-8")
    if old.count(begin) != 1 or old.count(end) != 1:
        raise ValueError(f"{page} must hold {begin} and {end} once each, to mark where figures go")
    before, rest = old.split(begin)
    with replacing(page) as stream:
        stream.write(f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}".encode())
