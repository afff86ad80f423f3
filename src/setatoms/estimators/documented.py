"""Estimators whose parameters, and what is said of them, come from the parts they consist of."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T", bound=type)

_SECTIONS = ("Parameters", "Attributes", "See Also", "Notes", "Examples")


@dataclass_transform(kw_only_default=True, eq_default=False)
def estimator(cls: T) -> T:
    """Give a class a constructor with its own fields and those of its bases, all by keyword.

    Its documentation gets an entry for each of them, and for all attributes that its bases
    document: those of the class itself, else those of the nearest base.
    """
    documented = cls.__doc__ is not None  # not so with python -OO
    dataclass(kw_only=True, eq=False, repr=False)(cls)
    if documented:
        cls.__doc__ = _with_entries(cls)
    return cls


def _with_entries(cls: Any) -> str:
    """Return the documentation of a class with the entries of its bases."""
    documented = [_split(base) for base in _line(cls)]
    sections = documented[0]
    parameters, attributes = (
        {name: entry for each in documented[::-1] for name, entry in _entries(each, title).items()}
        for title in ("Parameters", "Attributes")
    )
    defaults = {field.name: field.default for field in fields(cls)}
    # what a class has for itself comes first
    own_first = [name for base in _line(cls) for name in vars(base).get("__annotations__", {})]
    sections["Parameters"] = "\n".join(
        _with_default(parameters[name], defaults[name])
        for name in dict.fromkeys(own_first)
        if name in defaults
    )
    sections["Attributes"] = "\n".join(attributes.values())
    texts = [
        f"{title}\n{'-' * len(title)}\n{sections[title]}"
        for title in _SECTIONS
        if sections.get(title)
    ]
    return "\n\n".join([sections[""], *texts]) + "\n"


def _line(cls: Any) -> list[Any]:
    """Return a class and those of its bases that are documented here."""
    return [base for base in cls.__mro__ if base.__module__.startswith("setatoms.")]


def _split(cls: Any) -> dict[str, str]:
    """Return the sections of a class's own documentation; what comes before them has no title."""
    sections: dict[str, str] = {}
    title = ""
    lines: list[str] = []
    rows = inspect.cleandoc(cls.__dict__.get("__doc__") or "").split("\n")
    for row, below in zip(rows, [*rows[1:], ""], strict=True):
        if row in _SECTIONS and below == "-" * len(row):
            sections[title] = "\n".join(lines).strip("\n")
            title, lines = row, []
        elif not (row and row == "-" * len(title) and not lines):
            lines.append(row)
    sections[title] = "\n".join(lines).strip("\n")
    return sections


def _entries(sections: dict[str, str], title: str) -> dict[str, str]:
    """Return the entries of a section, one for each name; a line may name several."""
    entries: dict[str, str] = {}
    lines: list[str] = []
    for line in [*sections.get(title, "").split("\n"), "end"]:
        if line and not line.startswith(" "):
            if lines:
                for name in lines[0].split(" : ")[0].split(", "):
                    entries[name] = "\n".join(lines)
            lines = []
        if line:
            lines.append(line)
    return entries


def _with_default(entry: str, default: Any) -> str:
    """Return an entry whose first line says the default, unless it does."""
    first, *rest = entry.split("\n")
    if "default" not in first and default is not MISSING:
        first = f"{first}, default={_shown(default)}"
    return "\n".join([first, *rest])


def _shown(default: Any) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)
