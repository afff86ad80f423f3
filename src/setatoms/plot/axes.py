"""Where to draw, in which colours, and what columns are called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from setatoms.markup import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# After Okabe and Ito: told apart by colour-blind readers, on paper and on a dark screen.
BLUE, ORANGE, GREY = "#2b8cce", "#e69f00", "#808080"
_MOST_NAME = 40
# The least distance of two ticks, as a share of the axis.
_TICK_ROOM = 0.2


def import_pyplot() -> Any:
    """Return matplotlib's pyplot, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('setatoms.plot needs matplotlib: pip install "setatoms[plot]"') from error
    return plt


def axes_or_new(ax: Axes | None) -> Axes:
    """Return `ax`, or the axes of a new figure."""
    plt = import_pyplot()
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def fit_scale(ax: Axes, low: float, high: float, ticks: Iterable[float]) -> None:
    """Show the horizontal axis from `low` to `high` and a little beyond, on the scale that it has.

    Of the `ticks`, the first come first; those that are too near to one of them are left out.
    """
    to_axis = ax.xaxis.get_transform()
    left, right = to_axis.transform(np.array([low, high], dtype=float))
    margin = 0.04 * (right - left)
    ax.set_xlim(*to_axis.inverted().transform(np.array([left - margin, right + margin])))
    shown: list[tuple[float, float]] = []
    for tick in ticks:
        x = float(to_axis.transform(np.array([tick], dtype=float))[0])
        near = any(abs(x - other) < _TICK_ROOM * (right - left) for other, _ in shown)
        if left - margin <= x <= right + margin and not near:
            shown.append((x, tick))
    rising = [tick for _, tick in sorted(shown)]
    ax.set_xticks(rising, [f"{tick:g}" for tick in rising])
    ax.set_xticks([], minor=True)


def column_names(model: Any, n_features: int) -> list[str]:
    """Return what the columns of a fitted estimator are called, or x0, x1 and so on."""
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(n_features)] if names is None else list(map(str, names))


def short_name(name: str) -> str:
    """Return a name on one line that leaves room for the drawing."""
    return visible(" ".join(name.split()), _MOST_NAME)
