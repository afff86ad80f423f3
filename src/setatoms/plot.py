"""Look at scores, rows and atoms. Needs the extra: ``pip install "setatoms[plot]"``.

Scores are drawn as errors, minus `score_samples`: the further to the right, the more anomalous.
Every function draws into `ax` if given, and returns what it drew into.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setatoms.explain.records import ColumnRecord
from setatoms.explain.sentences import write_pair

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

# After Okabe and Ito: told apart by colour-blind readers, on paper and on a dark screen.
_BLUE, _ORANGE, _GREY = "#2b8cce", "#e69f00", "#808080"
_BINS = 50


def score_histogram(
    detector: Any, X: Any, y: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw how the scores of rows are distributed, and the threshold.

    Parameters
    ----------
    detector : fitted detector
        Which scores and whose threshold.
    X : array-like or dataframe of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,), optional
        1 for anomalies and 0 for normal rows, to draw them apart.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms import VectorAtomDetector, plot
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> ax = plot.score_histogram(VectorAtomDetector(random_state=0).fit(X), X)
    >>> ax.get_xlabel()
    'score (higher is more anomalous)'
    """
    ax = _axes(ax)
    scores = -detector.score_samples(X)
    edges = np.histogram_bin_edges(scores, bins=_BINS).tolist()
    if y is None:
        ax.hist(scores, bins=edges, color=_BLUE)
    else:
        anomalous = _check_labels(y, len(scores))
        parts = [scores[~anomalous], scores[anomalous]]
        ax.hist(parts, edges, stacked=True, color=[_BLUE, _ORANGE], label=["normal", "anomalies"])
    ax.axvline(-detector.offset_, color=_GREY, linestyle="--", label="threshold")
    ax.set(xlabel="score (higher is more anomalous)", ylabel="rows")
    ax.legend()
    return ax


def observed_and_expected(
    detector: Any,
    X: Any,
    *,
    top: int | None = 12,
    rank: str = "contribution",
    ax: Axes | None = None,
) -> Axes:
    """Draw what one row is, and what it was expected to be.

    Positions are standard deviations from a column's mean, numbers are in its own unit.

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
    """
    ax = _axes(ax)
    columns = detector.explain(_one_row(X), top=top, rank=rank).records[0]["columns"]
    observed = _in_deviations(detector, columns, [column["observed"] for column in columns])
    expected = _in_deviations(detector, columns, [column["expected"] for column in columns])
    places = np.arange(len(columns))
    ax.hlines(places, observed, expected, color=_GREY, linewidth=1)
    ax.plot(observed, places, "o", color=_ORANGE, label="observed")
    ax.plot(expected, places, "o", color=_BLUE, fillstyle="none", label="expected")
    ax.set_yticks(places, [_label(column) for column in columns])
    ax.invert_yaxis()
    ax.set(xlabel="standard deviations from the mean")
    ax.legend()
    return ax


def atoms(detector: Any, *, most: int = 16, image_shape: tuple[int, int] | None = None) -> Figure:
    """Draw atoms, those of the largest radius first, as bars or as small images.

    Parameters
    ----------
    detector : fitted estimator, or a member of an ensemble
        Whose atoms.
    most : int, default=16
        How many to draw.
    image_shape : tuple of int, optional
        Rows and columns of pixels, if features are the pixels of an image.
    """
    import_pyplot()
    components, radii, _ = _learned(detector)
    if image_shape is not None and np.prod(image_shape) != components.shape[1]:
        raise ValueError(
            f"image_shape={image_shape} has {np.prod(image_shape)} pixels, but atoms have "
            f"{components.shape[1]} features; give rows and columns whose product that is"
        )
    chosen = np.argsort(-radii, kind="stable")[:most]
    figure, panels = _panels(len(chosen))
    reach = float(np.abs(components[chosen]).max())
    for panel, j in zip(panels, chosen, strict=True):
        if image_shape is None:
            panel.bar(np.arange(components.shape[1]), components[j], color=_BLUE)
            panel.set_ylim(-reach, reach)
        else:
            image = components[j].reshape(image_shape)
            panel.imshow(image, cmap="RdBu_r", vmin=-reach, vmax=reach)
        panel.set_title(f"{j}: radius {radii[j]:.3g}", fontsize=8)
        panel.set(xticks=[], yticks=[])
    return figure


def radii(detector: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the radius of every atom over the iterations.

    Parameters
    ----------
    detector : fitted estimator with adaptive radii, or a member of an ensemble
        Whose history.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    """
    return _draw_history(detector, "radii", "radius", ax)


def usage(detector: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how much every atom is used over the iterations.

    Parameters
    ----------
    detector : fitted estimator with adaptive radii, or a member of an ensemble
        Whose history.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    """
    return _draw_history(detector, "usage", "usage", ax)


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
    """
    from sklearn.metrics import auc, roc_curve

    ax = _axes(ax)
    scores = -detector.score_samples(X)
    anomalous = _check_labels(y, len(scores))
    if anomalous.all() or not anomalous.any():
        raise ValueError("y holds one label only; a ROC curve needs normal rows and anomalies")
    false, true, _ = roc_curve(anomalous, scores, drop_intermediate=False)
    flagged = scores > -detector.offset_
    ax.plot(false, true, color=_BLUE, label=f"AUC {auc(false, true):.3f}")
    ax.plot([0, 1], [0, 1], color=_GREY, linewidth=1, linestyle=":")
    at = flagged[~anomalous].mean(), flagged[anomalous].mean()
    ax.plot(*at, "o", color=_ORANGE, label="threshold")
    ax.set(xlabel="normal rows flagged", ylabel="anomalies flagged", aspect="equal")
    ax.legend()
    return ax


def import_pyplot() -> Any:
    """Return matplotlib's pyplot, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('setatoms.plot needs matplotlib: pip install "setatoms[plot]"') from error
    return plt


def _axes(ax: Axes | None) -> Axes:
    plt = import_pyplot()
    return plt.subplots()[1] if ax is None else ax


def _panels(count: int) -> tuple[Figure, list[Axes]]:
    """Return a figure of at least `count` panels in a square, and that many of them."""
    side = int(np.ceil(np.sqrt(count)))
    figure, grid = import_pyplot().subplots(
        -(-count // side), side, squeeze=False, layout="constrained"
    )
    for panel in grid.flat[count:]:
        panel.remove()
    return figure, list(grid.flat[:count])


def _learned(model: Any) -> tuple[Array, Array, Any]:
    """Return atoms, radii and history of a fitted estimator or of a member of an ensemble."""
    if hasattr(model, "members_"):
        raise TypeError(
            f"this {type(model).__name__} has {len(model.members_)} dictionaries; give one of its "
            "members_, such as members_[0]"
        )
    if hasattr(model, "atoms"):
        return model.atoms, model.radii, model.history
    return model.components_, model.radii_, model.history_


def _draw_history(detector: Any, what: str, name: str, ax: Axes | None) -> Axes:
    """Draw a part of the history (n_adaptations, n_atoms) over the iterations."""
    _, _, history = _learned(detector)
    values = getattr(history, what)
    if len(values) == 0:
        raise ValueError(
            f"this {type(detector).__name__} has no history of {name}: only radii that adapt are "
            "recorded; fit Gaussian or cone atoms with adapt='l1' or 'l0'"
        )
    ax = _axes(ax)
    ax.plot(history.adapted_at, values, color=_BLUE, alpha=0.4, linewidth=0.8)
    ax.set(xlabel="iteration", ylabel=name)
    return ax


def _one_row(X: Any) -> Any:
    row = np.reshape(X, (1, -1)) if np.ndim(X) == 1 else X
    if len(row) != 1:
        raise ValueError(f"X has {len(row)} rows, one is drawn; give it as X[[i]] or X.iloc[[i]]")
    return row


def _in_deviations(detector: Any, columns: list[ColumnRecord], values: list[float | None]) -> Array:
    """Return `values` of `columns` standardised, NaN for None."""
    names = getattr(detector, "feature_names_in_", None)
    names = [f"x{j}" for j in range(detector.n_features_in_)] if names is None else list(names)
    at = [names.index(column["column"]) for column in columns]
    standardizer = detector.standardizer_
    return (np.array(values, dtype=float) - standardizer.mean[at]) / standardizer.scale[at]


def _label(column: ColumnRecord) -> str:
    if column["observed"] is None:
        return f"{column['column']}  missing"
    observed, expected = write_pair(column["observed"], column["expected"])
    return f"{column['column']}  {observed} / {expected}"


def _check_labels(y: ArrayLike, n_samples: int) -> NDArray[np.bool_]:
    labels = np.asarray(y)
    if labels.shape != (n_samples,) or not np.isin(labels, (0, 1)).all():
        raise ValueError(
            f"y of shape {labels.shape} must hold {n_samples} labels, 1 for anomalies and 0 for "
            "normal rows"
        )
    return labels.astype(bool)
