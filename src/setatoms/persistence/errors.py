"""One error for every file that is not a model, or not any more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

MAKE_AGAIN = "fit and save the model again, or take another copy of the file"

_SHOWN_CHARACTERS = 200


class ModelFileError(ValueError):
    """A file does not hold a model that this version of the library can trust and read.

    The message names the file, what is wrong with it, and what helps.
    """


class FlawError(Exception):
    """What is wrong with a file, raised where its name is not known.

    Parameters
    ----------
    fact : str
        What was found.
    remedy : str
        What helps.
    """

    def __init__(self, fact: str, remedy: str = MAKE_AGAIN) -> None:
        super().__init__(fact, remedy)
        self.fact = fact
        self.remedy = remedy


@contextmanager
def blaming(task: str, path: str | PathLike[str]) -> Iterator[None]:
    """Turn a `FlawError` into a `ModelFileError` that says which `task` failed on which file."""
    try:
        yield
    except FlawError as flaw:
        raise ModelFileError(f"cannot {task} {path}: {flaw.fact}; {flaw.remedy}") from None


def shown(value: object) -> str:
    """Write a value from a file for a message: on one line, escaped and short."""
    text = ascii(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."
