"""Names of columns: every column has one, and no two are alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from setatoms.files.errors import listed


def unique_names(
    raw: Sequence[str], alike: Callable[[str], str] = str
) -> tuple[list[str], list[str]]:
    """Return names that are neither empty nor repeated, and notes on what was renamed.

    Parameters
    ----------
    raw : sequence of str
        The names in the file. An empty one becomes ``column_3`` by its position, a repeated one
        ``name_2``; the rule depends on the header alone, so it is the same at every reading.
    alike : callable
        Two names of which it returns the same are one.

    Examples
    --------
    >>> unique_names(["a", "", "a"])
    (['a', 'column_2', 'a_2'], ["1 column without a name: 'column_2'", "1 repeated name: 'a_2'"])
    """
    names: list[str] = []
    unnamed, repeated = [], []
    taken = {alike(name.strip()) for name in raw}  # a made-up name must not meet a given one
    used: set[str] = set()
    counts: dict[str, int] = {}
    for position, given in enumerate(raw, start=1):
        name = given.strip()
        if not name:
            name = _free(f"column_{position}", alike, taken, counts)
            unnamed.append(name)
        elif alike(name) in used:
            name = _free(name, alike, taken, counts, again=True)
            repeated.append(name)
        names.append(name)
        used.add(alike(name))
        taken.add(alike(name))
    return names, [
        *_note("column", "without a name", unnamed),
        *_note("repeated name", "", repeated),
    ]


def numbered_names(n_columns: int) -> list[str]:
    """Return the names of columns in a file without a header.

    Examples
    --------
    >>> numbered_names(2)
    ['column_1', 'column_2']
    """
    return [f"column_{position}" for position in range(1, n_columns + 1)]


def _free(
    name: str,
    alike: Callable[[str], str],
    taken: set[str],
    counts: dict[str, int],
    *,
    again: bool = False,
) -> str:
    """Return `name`, or `name` with the first number behind it that is not taken."""
    if not again and alike(name) not in taken:
        return name
    # remembering the last number keeps a header of equal names from taking quadratic time
    number = counts.get(alike(name), 1) + 1
    while alike(f"{name}_{number}") in taken:
        number += 1
    counts[alike(name)] = number
    return f"{name}_{number}"


def _note(what: str, how: str, names: list[str]) -> list[str]:
    if not names:
        return []
    many = f"{len(names)} {what}{'s' if len(names) > 1 else ''} {how}".strip()
    return [f"{many}: {listed(names)}"]
