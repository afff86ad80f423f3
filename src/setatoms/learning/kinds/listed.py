"""The list of kinds, by name."""

from __future__ import annotations

import dataclasses
from typing import TypeVar

from setatoms.learning.kinds.base import AtomKind

K = TypeVar("K", bound=type[AtomKind])

KINDS: dict[str, type[AtomKind]] = {}


def register(kind: K) -> K:
    """Put a kind on the list, from where detectors, ensembles, files and commands take it.

    Parameters
    ----------
    kind : type
        A subclass of `AtomKind`, a frozen dataclass whose fields have defaults. Its `name`, and
        the name of the class, must not be taken.

    Returns
    -------
    type
        The same, so that this is a decorator.
    """
    if not dataclasses.is_dataclass(kind):
        raise TypeError(f"{kind.__name__} is no dataclass, so its fields cannot be saved")
    taken = {name for known in KINDS.values() for name in (known.name, known.__name__)}
    if {kind.name, kind.__name__} & taken:
        raise ValueError(f"a kind called {kind.name!r} or {kind.__name__} is known already")
    KINDS[kind.name] = kind
    return kind


def find_kind(name: object) -> type[AtomKind]:
    """Return the kind of that name."""
    if isinstance(name, str) and name in KINDS:
        return KINDS[name]
    raise ValueError(f"kind={name!r} is not known; choose one of {', '.join(map(repr, KINDS))}")
