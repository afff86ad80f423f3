"""Methods that answer for the rows of a Dask collection lazily, partition by partition."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any, TypeVar, cast

from sklearn.utils.validation import check_is_fitted

Method = TypeVar("Method", bound=Callable[..., Any])


def is_dask(X: Any) -> bool:
    """Tell whether X is an array or a frame of Dask."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


def many_questions(X: Any) -> AbstractContextManager[None]:
    """Let Dask prepare for many questions about X, if it is a collection."""
    if not is_dask(X):
        return nullcontext()
    # imports Dask, which nobody else has to
    from setatoms.rows.delayed import same_processes

    return same_processes()


def lazily(method: Method) -> Method:
    """Let a method that looks at each row alone answer for Dask collections as well."""

    @wraps(method)
    def answer(self: Any, X: Any, *arguments: Any, **named: Any) -> Any:
        if not is_dask(X):
            return method(self, X, *arguments, **named)
        check_is_fitted(self)
        # imports Dask, which nobody else has to
        from setatoms.estimators.dask_tables import map_rows

        return map_rows(self, method.__name__, X, arguments, named)

    return cast(Method, answer)
