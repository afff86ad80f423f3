"""One row: what it is, and what it was expected to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setatoms.explain.records import ColumnRecord, RowRecord
from setatoms.explain.sentences import write_pair
from setatoms.explain.text_form import verdict_text
from setatoms.plot.axes import BLUE, GREY, ORANGE, axes_or_new, column_names, fit_scale, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

# Deviations up to the first are drawn in line if one is beyond the second, others as logarithms.
_IN_LINE, _FAR = 3.0, 8.0


def observed_and_expected(
    detector: Any,
    X: Any,
    *,
    top: int | None = 12,
    rank: str = "contribution",
    ax: Axes | None = None,
) -> Axes:
    """Draw what one row is, and what it was expected to be.

    Positions are standard deviations from a column's mean, numbers are in its own unit. If a value
    is far out, the scale is logarithmic beyond three standard deviations.

    Parameters
    ----------
    detector : fitted detector
        Who explains.
    X : array-like of shape (n_features,), or of shape (1, n_features), or dataframe of one row
        The row.
    top : int or None, default=12
        How many columns to draw, the most responsible on top; None draws all.
    rank : {"contribution", "refill"}, default="contribution"
        What makes a column responsible, as in `explain`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    ax : matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms import VectorAtomDetector, plot
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> detector = VectorAtomDetector(random_state=0).fit(X)
    >>> ax = plot.observed_and_expected(detector, [0.0, 500.0, 0.0])
    >>> ax.get_yticklabels()[0].get_text()
    'x1  500 / ...'
    >>> ax.get_xscale()
    'symlog'
    """
    ax = axes_or_new(ax)
    row = _one_row(X)
    (record,) = detector.explain(row, top=top, rank=rank).records
    columns = record["columns"]
    observed = _in_deviations(detector, columns, [column["observed"] for column in columns])
    expected = _in_deviations(detector, columns, [column["expected"] for column in columns])
    places = np.arange(len(columns))
    ax.hlines(places, observed, expected, color=GREY, linewidth=1)
    ax.plot(observed, places, "o", color=ORANGE, label="observed")
    ax.plot(expected, places, "o", color=BLUE, fillstyle="none", label="expected")
    ax.set_yticks(places, [_label(column) for column in columns], parse_math=False)
    ax.invert_yaxis()
    _draw_scale(ax, np.concatenate([observed, expected]))
    ax.set(xlabel="standard deviations from the mean")
    ax.set_title(_title(row, record), loc="right", fontsize="medium", parse_math=False)
    ax.legend()
    return ax


def _one_row(X: Any) -> Any:
    if np.ndim(X) == 1:
        # a row of a pandas frame knows the names of its columns
        row = X.to_frame().T if hasattr(X, "iloc") else np.reshape(X, (1, -1))
    else:
        row = X
    if len(row) != 1:
        raise ValueError(f"X has {len(row)} rows, one is drawn; give it as X[[i]] or X.iloc[[i]]")
    return row


def _in_deviations(detector: Any, columns: list[ColumnRecord], values: list[float | None]) -> Array:
    """Return `values` of `columns` standardised, NaN for None."""
    names = column_names(detector, detector.n_features_in_)
    at = [names.index(column["column"]) for column in columns]
    standardizer = detector.standardizer_
    return (np.array(values, dtype=float) - standardizer.mean[at]) / standardizer.scale[at]


def _draw_scale(ax: Axes, deviations: Array) -> None:
    """Scale the axis so that the usual is seen beside what is far out: half of it or more."""
    low, high = float(np.nanmin(deviations)), float(np.nanmax(deviations))
    farthest = max(-low, high)
    if farthest <= _FAR:
        return
    ax.set_xscale("symlog", linthresh=_IN_LINE, linscale=np.log10(farthest / _IN_LINE))
    powers = 10.0 ** np.arange(np.floor(np.log10(farthest)), 0, -1)
    ticks = [0.0, *np.ravel(np.column_stack([powers, -powers])), -_IN_LINE, _IN_LINE]
    fit_scale(ax, min(low, -_IN_LINE), max(high, _IN_LINE), ticks)


def _label(column: ColumnRecord) -> str:
    name = short_name(column["column"])
    if column["observed"] is None:
        return f"{name}  missing"
    observed, expected = write_pair(column["observed"], column["expected"])
    return f"{name}  {observed} / {expected}"


def _title(row: Any, record: RowRecord) -> str:
    """Return the label of a row, if it has one, its score and its kind."""
    label = f"row {short_name(str(row.index[0]))}: " if hasattr(row, "iloc") else ""
    return label + verdict_text(record)
