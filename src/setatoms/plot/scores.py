"""How scores are distributed, and how well they tell anomalies from normal rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setatoms.histogram import Histogram, bin_scores
from setatoms.plot.axes import BLUE, GREY, ORANGE, axes_or_new, fit_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def score_histogram(
    detector: Any, X: Any, y: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw how the scores of rows are distributed, and the threshold.

    Heights are square roots of the numbers of rows, so that a single row is seen beside hundreds. A
    long tail of scores is drawn in: in line near zero, as logarithms beyond the median.

    Parameters
    ----------
    detector : fitted detector
        Which scores and whose threshold.
    X : array-like or dataframe of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,), optional
        1 for anomalies and 0 for normal rows, to draw them apart; by default those that are
        flagged are drawn apart.
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
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> ax = plot.score_histogram(VectorAtomDetector(random_state=0).fit(X), X)
    >>> ax.get_xlabel()
    'score (higher is more anomalous)'
    """
    ax = axes_or_new(ax)
    scores, threshold = -detector.score_samples(X), float(-detector.offset_)
    apart = scores > threshold if y is None else _check_labels(y, len(scores))
    words = ("not flagged", "flagged") if y is None else ("normal", "anomalies")
    bins = bin_scores(scores, apart, threshold)
    left, width = bins.edges[:-1], np.diff(bins.edges)
    ax.bar(left, bins.quiet, width, align="edge", color=BLUE, label=words[0])
    ax.bar(left, bins.flagged, width, bins.quiet, align="edge", color=ORANGE, label=words[1])
    ax.axvline(threshold, color=GREY, linestyle="--", label="threshold")
    _draw_scale(ax, bins, threshold)
    _draw_square_roots(ax, int((bins.quiet + bins.flagged).max()))
    ax.set(xlabel="score (higher is more anomalous)", ylabel="rows")
    ax.legend()
    return ax


def roc(detector: Any, X: Any, y: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Draw the receiver operating characteristic, and where the threshold lies on it.

    Parameters
    ----------
    detector : fitted detector
        Whose scores.
    X : array-like or dataframe of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        1 for anomalies and 0 for normal rows; both must occur.
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
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> X[:5] += 10
    >>> ax = plot.roc(VectorAtomDetector(random_state=0).fit(X[5:]), X, np.arange(200) < 5)
    >>> ax.get_legend().get_texts()[0].get_text()
    'AUC 1.000'
    """
    from sklearn.metrics import auc, roc_curve

    ax = axes_or_new(ax)
    scores = -detector.score_samples(X)
    anomalous = _check_labels(y, len(scores))
    if anomalous.all() or not anomalous.any():
        raise ValueError("y holds one label only; a ROC curve needs normal rows and anomalies")
    false, true, _ = roc_curve(anomalous, scores, drop_intermediate=False)
    flagged = scores > -detector.offset_
    ax.plot(false, true, color=BLUE, label=f"AUC {auc(false, true):.3f}")
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle=":")
    at = flagged[~anomalous].mean(), flagged[anomalous].mean()
    ax.plot(*at, "o", color=ORANGE, label="threshold")
    ax.set(xlabel="normal rows flagged", ylabel="anomalies flagged", aspect="equal")
    ax.legend()
    return ax


def _draw_scale(ax: Axes, bins: Histogram, threshold: float) -> None:
    """Scale the axis of scores as the bins are, with round numbers on it."""
    if bins.axis.unit is not None:
        ax.set_xscale("asinh", linear_width=bins.axis.unit)
        ticks = sorted(bins.round_scores(), key=_roundness)
        fit_scale(ax, bins.edges[0], max(bins.edges[-1], threshold), ticks)


def _roundness(number: float) -> int:
    """Return 0 for powers of ten, 1 for twice or five times one, 2 for others."""
    return {"0": 0, "1": 0, "2": 1, "5": 1}.get(f"{number:e}"[0], 2)


def _draw_square_roots(ax: Axes, most: int) -> None:
    """Scale the axis of rows by square roots, with round numbers up to `most` on it."""
    ax.set_yscale("function", functions=(lambda rows: np.sqrt(np.maximum(rows, 0)), np.square))
    ladder = [step * 10**power for power in range(10) for step in (1, 2, 5)]
    ticks: list[int] = []
    for rows in reversed([rows for rows in ladder if rows <= most]):
        if not ticks or np.sqrt(ticks[-1]) - np.sqrt(rows) > np.sqrt(most) / 10:
            ticks.append(rows)
    ax.set_yticks([0, *reversed(ticks)])
    ax.set_ylim(0, 1.1 * most)


def _check_labels(y: ArrayLike, n_samples: int) -> NDArray[np.bool_]:
    labels = np.asarray(y)
    if labels.shape != (n_samples,) or not np.isin(labels, (0, 1)).all():
        raise ValueError(
            f"y of shape {labels.shape} must hold {n_samples} labels, 1 for anomalies and 0 for "
            "normal rows"
        )
    return labels.astype(bool)
