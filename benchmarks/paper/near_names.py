"""Choose by name or pattern; an unknown name is answered with the nearest known ones."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase


def choose(what: str, wanted: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the known names that are wanted, in their own order, each once.

    Parameters
    ----------
    what : str
        What the names are of, for the message.
    wanted : iterable of str
        Names or patterns such as ``"DLC*"``; upper and lower case are the same.
    known : iterable of str
        All names there are.

    Examples
    --------
    >>> choose("method", ["lof", "*-DL"], ["Cone-DL", "IForest", "LOF"])
    ['Cone-DL', 'LOF']
    """
    names = list(dict.fromkeys(known))
    chosen: set[str] = set()
    for word in wanted:
        matching = [name for name in names if fnmatchcase(name.lower(), word.lower())]
        if not matching:
            raise ValueError(_explain(what, word, names))
        chosen.update(matching)
    return [name for name in names if name in chosen]


def _explain(what: str, word: str, names: list[str]) -> str:
    spellings = {name.lower(): name for name in names}
    near = get_close_matches(word.lower(), spellings, n=3, cutoff=0.5)
    if near:
        return f"no {what} {word!r}; did you mean {' or '.join(spellings[n] for n in near)}?"
    return f"no {what} {word!r}; choose from {', '.join(names)}"
