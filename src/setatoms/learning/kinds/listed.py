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
    name, own = getattr(kind, "name", None), vars(kind)
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"{kind.__name__}.name={name!r} must be a word")
    if "__dataclass_fields__" not in own or not own["__dataclass_params__"].frozen:
        raise TypeError(f"{kind.__name__} must be a frozen dataclass, or its fields are not saved")
    if any(_has_no_default(field) for field in dataclasses.fields(kind)):  # type: ignore[arg-type]
        raise TypeError(f"all fields of {kind.__name__} must have defaults")
    taken = {"ensemble", *KINDS, *(known.__name__ for known in KINDS.values())}
    if {name, kind.__name__} & taken:
        raise ValueError(f"a kind called {name!r} or {kind.__name__} is known already")
    KINDS[name] = kind
    return kind


def _has_no_default(field: dataclasses.Field[object]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def find_kind(name: object) -> type[AtomKind]:
    """Return the kind of that name.

    Parameters
    ----------
    name : str
        Such as ``"gaussian"``; a name that no kind has is an error that lists those there are.

    Returns
    -------
    type
        A subclass of `AtomKind`.
    """
    if isinstance(name, str) and name in KINDS:
        return KINDS[name]
    raise ValueError(f"kind={name!r} is not known; choose one of {', '.join(map(repr, KINDS))}")
