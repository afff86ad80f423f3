"""What was learned: atoms, and their radii and use over the iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setatoms.plot.axes import (
    BLUE,
    GREY,
    ORANGE,
    axes_or_new,
    column_names,
    import_pyplot,
    short_name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from setatoms.learning.dictionary import FittedDictionary

_COLOURS = {"gaussian": BLUE, "cone": ORANGE}
# With more columns, names would lie on top of each other.
_MOST_NAMED = 40


def atoms(
    detector: Any,
    *,
    member: int | None = None,
    most: int = 16,
    image_shape: tuple[int, int] | None = None,
) -> NDArray[np.object_]:
    """Draw atoms, those of the largest radius first, as bars or as small images.

    Parameters
    ----------
    detector : fitted estimator, or a member of an ensemble
        Whose atoms.
    member : int, optional
        The number of the member of an ensemble; by default atoms of all members are drawn.
    most : int, default=16
        How many to draw.
    image_shape : tuple of int, optional
        Rows and columns of pixels, if features are the pixels of an image.

    Returns
    -------
    panels : ndarray of matplotlib Axes of shape (n_drawn,)
        The panels, one per atom; ``panels[0].figure`` is their figure.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms import SetAtomEnsemble, plot
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> detector = SetAtomEnsemble(budget="fast", random_state=0).fit(X)
    >>> panels = plot.atoms(detector, most=4)
    >>> len(panels), [label.get_text() for label in panels[0].get_yticklabels()]
    (4, ['x0', 'x1', 'x2'])
    """
    import_pyplot()
    chosen = _dictionaries(detector, member)
    n_features = next(iter(chosen.values())).atoms.shape[1]
    if image_shape is not None and np.prod(image_shape) != n_features:
        raise ValueError(
            f"image_shape={image_shape} has {np.prod(image_shape)} pixels, but atoms have "
            f"{n_features} features; give rows and columns whose product that is"
        )
    widest = _widest(chosen, most)
    reach = max(float(np.abs(chosen[i].atoms[j]).max()) for i, j in widest)
    names = [short_name(name) for name in column_names(detector, n_features)]
    panels, per_line = _panels(len(widest), 0 if image_shape else min(n_features, _MOST_NAMED))
    for place, (panel, (i, j)) in enumerate(zip(panels, widest, strict=True)):
        atom = chosen[i].atoms[j]
        if image_shape is None:
            _draw_bars(panel, atom, reach, names if place % per_line == 0 else None)
        else:
            panel.imshow(atom.reshape(image_shape), cmap="RdBu_r", vmin=-reach, vmax=reach)
            panel.set(xticks=[], yticks=[])
        whose = f"{chosen[i].kind.name} member {i}\natom " if len(chosen) > 1 else ""
        panel.set_title(f"{whose}{j}: radius {chosen[i].radii[j]:.3g}", fontsize=8)
    return panels


def radii(detector: Any, *, member: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw the radius of every atom: over the iterations, or by member of an ensemble.

    Parameters
    ----------
    detector : fitted estimator with adaptive radii, or a member of an ensemble
        Whose history.
    member : int, optional
        The number of the member of an ensemble, whose history is drawn. By default every member is
        a column of points, one for each atom at the end of learning, in a colour per kind.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    ax : matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms import GaussianAtomDetector, plot
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> detector = GaussianAtomDetector(n_atoms=9, random_state=0).fit(X)
    >>> len(plot.radii(detector).lines)
    9
    """
    return _draw_history(detector, member, "radii", "radius", ax)


def usage(detector: Any, *, member: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw how much every atom is used: over the iterations, or by member of an ensemble.

    Parameters
    ----------
    detector : fitted estimator with adaptive radii, or a member of an ensemble
        Whose history.
    member : int, optional
        The number of the member of an ensemble, whose history is drawn. By default every member is
        a column of points, one for each atom at the end of learning, in a colour per kind.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    ax : matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms import GaussianAtomDetector, plot
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> detector = GaussianAtomDetector(n_atoms=9, random_state=0).fit(X)
    >>> plot.usage(detector).get_ylabel()
    'usage'
    """
    return _draw_history(detector, member, "usage", "usage", ax)


def _dictionaries(model: Any, member: int | None) -> dict[int, FittedDictionary]:
    """Return the dictionaries of a fitted estimator by number, or a member of an ensemble alone."""
    if not hasattr(model, "dictionaries_"):
        return {0: model}
    everything = dict(enumerate(model.dictionaries_))
    if member is None:
        return everything
    if member not in everything:
        raise ValueError(
            f"member={member!r} is none of this {type(model).__name__}; give a number from 0 to "
            f"{len(everything) - 1}"
        )
    return {member: everything[member]}


def _widest(chosen: dict[int, FittedDictionary], most: int) -> list[tuple[int, int]]:
    """Return the numbers of dictionary and atom of the largest radii, the largest first."""
    places = [(i, j) for i, each in chosen.items() for j in range(len(each.radii))]
    radii_of_all = np.concatenate([each.radii for each in chosen.values()])
    return [places[q] for q in np.argsort(-radii_of_all, kind="stable")[:most]]


def _panels(count: int, n_named: int) -> tuple[NDArray[np.object_], int]:
    """Return panels in a square, with room for so many names beside them, and how many per line."""
    side = int(np.ceil(np.sqrt(count)))
    lines = -(-count // side)
    size = 1.7 * side + (1.5 if n_named else 0), lines * max(1.6, 0.5 + 0.16 * n_named)
    _, grid = import_pyplot().subplots(
        lines, side, squeeze=False, layout="constrained", figsize=size
    )
    for panel in grid.flat[count:]:
        panel.remove()
    return np.array(grid.flat[:count], dtype=object), side


def _draw_bars(panel: Axes, atom: NDArray[np.float64], reach: float, names: Any) -> None:
    """Draw the entries of an atom (n_features,) from top to bottom, with names if given."""
    places = np.arange(len(atom))
    panel.barh(places, atom, color=BLUE)
    panel.axvline(0, color=GREY, linewidth=0.5)
    panel.set(xlim=(-reach, reach), xticks=[], yticks=[])
    panel.invert_yaxis()
    if names is not None and len(names) <= _MOST_NAMED:
        panel.set_yticks(places, names, fontsize=7, parse_math=False)


def _draw_history(detector: Any, member: int | None, what: str, name: str, ax: Axes | None) -> Axes:
    """Draw a part of the history of one dictionary, or what it came to in each of several."""
    chosen = {i: each for i, each in _dictionaries(detector, member).items() if _adapted(each)}
    if not chosen:
        raise ValueError(
            f"this {type(detector).__name__} has no history of {name}: only radii that adapt are "
            "recorded; fit Gaussian or cone atoms with adapt='l1' or 'l0'"
        )
    ax = axes_or_new(ax)
    if len(chosen) == 1:
        (history,) = (each.history for each in chosen.values())
        _draw_course(ax, history.adapted_at, getattr(history, what))
        ax.set(xlabel="iteration", ylabel=name)
    else:
        _draw_members(
            ax, {i: (e.kind.name, getattr(e.history, what)[-1]) for i, e in chosen.items()}
        )
        ax.set(xlabel="number of the member", ylabel=f"{name} of its atoms")
    return ax


def _draw_course(ax: Axes, iterations: Any, values: NDArray[np.float64]) -> None:
    """Draw values (n_adaptations, n_atoms) as a line for each atom."""
    # few adaptations are seen as points
    style = "o-" if len(iterations) <= 3 else "-"
    ax.plot(iterations, values, style, color=BLUE, alpha=0.4, linewidth=0.8, markersize=3)


def _draw_members(ax: Axes, members: dict[int, tuple[str, NDArray[np.float64]]]) -> None:
    """Draw the kind and the values (n_atoms,) of each member as a column of points."""
    labelled: set[str] = set()
    for i, (kind, values) in members.items():
        colour = _COLOURS.get(kind, GREY)
        ax.plot(np.full(len(values), i), values, "o", color=colour, alpha=0.4, markersize=4)
        if kind not in labelled:
            ax.plot([], [], "o", color=colour, markersize=4, label=kind)
            labelled.add(kind)
    ax.locator_params(axis="x", integer=True)
    # beside the points, which fill the panel
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(labelled), frameon=False)


def _adapted(dictionary: FittedDictionary) -> bool:
    return len(dictionary.history.adapted_at) > 0
