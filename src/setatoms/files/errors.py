"""What is wrong with a file, and where."""

from __future__ import annotations

_SHOWN = 60


class FileError(ValueError):
    """A file that cannot be read as a table; the message names the place and a remedy."""


def located(
    file: str, what: str, *, place: str | None = None, column: str | None = None
) -> FileError:
    """Return an error that names the file, the line or row, and the column.

    Examples
    --------
    >>> print(located("a.csv", "'x' is not a number", place="line 3", column="size"))
    a.csv, line 3, column 'size': 'x' is not a number
    """
    where = [file]
    if place is not None:
        where.append(place)
    if column is not None:
        where.append(f"column {quoted(column)}")
    return FileError(f"{', '.join(where)}: {what}")


def quoted(text: str) -> str:
    r"""Return `text` in quotes, short and safe to print whatever it holds.

    Examples
    --------
    >>> print(quoted("\x1b[31mred"))
    '\x1b[31mred'
    >>> len(quoted("x" * 1_000_000))
    62
    """
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")


def listed(names: list[str], at_most: int = 6) -> str:
    """Write names for a message, the first few of them.

    Examples
    --------
    >>> listed(["a", "b", "c"], at_most=2)
    "'a', 'b' and 1 more"
    """
    hidden = len(names) - at_most
    return ", ".join(map(quoted, names[:at_most])) + (f" and {hidden} more" if hidden > 0 else "")
