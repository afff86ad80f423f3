"""The paper's Figures 1 to 3 from a store of results."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.paper.improvements import ADAPTIVE_CONES, best_ratios, improvements
from benchmarks.paper.published import TWINS
from benchmarks.paper.reading import Stores, load_results
from benchmarks.paper.results import Results, plain_name
from setatoms.persistence.atomic import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# After Okabe and Ito: told apart by colour-blind readers, on paper and on a dark screen.
_COLOURS = ("#2b8cce", "#e69f00", "#009e73", "#cc79a7")
_MARKERS = ("o", "s", "^", "D")
_GREY = "#808080"
_STYLE: dict[str, Any] = {
    "font.size": 9,
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
}
# Below this a ratio is drawn at the edge: a perfect area that was lost has ratio minus infinity.
_LOWEST_RATIO = -1.0

CAPTIONS = {
    "figure1": "Figure 1. Improvement of ROC AUC by adaptive radii over DL-Gauss-L1, for each "
    "dataset over the 18 configurations. Boxes hold the middle half, whiskers reach to the "
    "farthest configuration within 1.5 times the box.",
    "figure2": "Figure 2. Improvement of ROC AUC by adaptive radii over Cone-DL and Cone-DL-D, for "
    "each dataset over the 18 configurations.",
    "figure3": "Figure 3. The largest share of the possible improvement that adaptive cones reach, "
    "for each dataset over the 18 configurations.",
}


def draw_figures(stores: Stores, out: str | Path, *, anomalies: str = "dependency") -> list[Path]:
    """Draw Figures 1 to 3 as PNG and SVG.

    Parameters
    ----------
    stores : path-like or sequence of path-like
        Folders that hold ``results.sqlite``, or SQLite files.
    out : path-like
        The folder for ``figure1.png``, ``figure1.svg`` and so on; made if missing.
    anomalies : str, default="dependency"
        The kind of anomalies.

    Returns
    -------
    list of Path
        The files written.
    """
    figures = make_figures(load_results(stores, anomalies))
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, figure in figures.items():
        for suffix in ("png", "svg"):
            file = folder / f"{name}.{suffix}"
            with replacing(file) as stream:
                stream.write(render(figure, suffix))
            files.append(file)
    return files


def make_figures(results: Results, *, ink: str = "#222222") -> dict[str, Figure]:
    """Return the figures by name.

    Parameters
    ----------
    results : Results
    ink : str
        The colour of text and axes.
    """
    matplotlib = _matplotlib()
    inks = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    with matplotlib.rc_context(_STYLE | dict.fromkeys(inks, ink)):
        return {
            "figure1": _draw_improvements(results, [("DL-Gauss-L1", _adaptive("DL-Gauss-L1"))]),
            "figure2": _draw_improvements(
                results, [(twin, _adaptive(twin)) for twin in ("Cone-DL", "Cone-DL-D")]
            ),
            "figure3": _draw_ratios(results),
        }


def render(figure: Figure, suffix: str, *, transparent: bool = False) -> bytes:
    """Return the file of a figure, the same bytes for the same figure."""
    matplotlib = _matplotlib()
    buffer = io.BytesIO()
    # text stays text, so that it can be searched and takes the font of a page
    with matplotlib.rc_context({"svg.hashsalt": "setatoms", "svg.fonttype": "none"}):
        metadata = {"Date": None} if suffix == "svg" else {"Software": None}
        figure.savefig(
            buffer,
            format=suffix,
            dpi=160,
            metadata=metadata,
            bbox_inches="tight",
            transparent=transparent,
        )
    return buffer.getvalue()


def _matplotlib() -> Any:
    """Return the module, or say how to install it."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError('figures need matplotlib: pip install "setatoms[bench]"') from error
    return matplotlib


def _new_figure(n_datasets: int, height: float, n_panels: int) -> tuple[Figure, list[Axes]]:
    """Return a figure wide enough for the names of its datasets and for its legend."""
    # not by pyplot, which would keep the figures and choose a window system
    from matplotlib.figure import Figure

    figure = Figure(figsize=(max(8.0, 1.2 + 0.33 * n_datasets), height), layout="constrained")
    return figure, list(figure.subplots(n_panels, 1, sharex=True, squeeze=False)[:, 0])


def _draw_improvements(results: Results, panels: Sequence[tuple[str, Sequence[str]]]) -> Figure:
    """Draw boxes per dataset, a panel for each twin."""
    figure, axes = _new_figure(len(results.datasets), 1.2 + 2.8 * len(panels), len(panels))
    for axis, (twin, methods) in zip(axes, panels, strict=True):
        for i, method in enumerate(methods):
            _draw_boxes(axis, results, method, i, len(methods))
        axis.axhline(0, color=_GREY, linewidth=0.8, zorder=0)
        axis.set_ylabel(f"ROC AUC minus that of {twin}")
        axis.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(methods))
        _shade(axis, len(results.datasets))
    _name_datasets(axes[-1], results.datasets)
    return figure


def _draw_boxes(axis: Axes, results: Results, method: str, place: int, n_methods: int) -> None:
    """Draw the boxes of one of `n_methods` that share the room of a dataset."""
    gains = improvements(results, method)
    shown = [(i, gains[name]) for i, name in enumerate(results.datasets) if name in gains]
    room = 0.76 / n_methods
    colour = _COLOURS[place]
    line = {"color": colour, "linewidth": 1.0}
    axis.plot([], [], marker="s", linestyle="", color=colour, label=method)
    if shown:
        axis.boxplot(
            [values for _, values in shown],
            positions=[i + (place - (n_methods - 1) / 2) * room for i, _ in shown],
            widths=0.8 * room,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": (colour, 0.3), "edgecolor": colour, "linewidth": 1.0},
            # as wide as a box whose 18 configurations agree, which would be invisible without it
            medianprops={"color": colour, "linewidth": 2.0},
            whiskerprops=line,
            capprops=line,
            flierprops={"marker": ".", "markersize": 3, "markeredgecolor": colour},
        )


def _draw_ratios(results: Results) -> Figure:
    """Draw the best improvement ratio per dataset, a marker for each adaptive cone method."""
    figure, (axis,) = _new_figure(len(results.datasets), 4.0, 1)
    for place, method in enumerate(ADAPTIVE_CONES):
        ratios = best_ratios(results, method)
        shown = [(i, ratios[name]) for i, name in enumerate(results.datasets) if name in ratios]
        axis.plot(
            [i + (place - 1.5) * 0.19 for i, _ in shown],
            [max(ratio, _LOWEST_RATIO) for _, ratio in shown],
            linestyle="",
            marker=_MARKERS[place],
            markersize=5,
            color=_COLOURS[place],
            label=method,
            clip_on=False,
        )
    axis.axhline(0, color=_GREY, linewidth=0.8, zorder=0)
    axis.axhline(0.5, color=_GREY, linewidth=0.8, linestyle=":", zorder=0)
    bottom, top = axis.get_ylim()
    axis.set_ylim(max(min(bottom, -0.05), _LOWEST_RATIO), max(top, 1.05))
    axis.set_ylabel("best improvement ratio")
    axis.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(ADAPTIVE_CONES))
    _shade(axis, len(results.datasets))
    _name_datasets(axis, results.datasets)
    return figure


def _shade(axis: Axes, n_datasets: int) -> None:
    """Shade the room of every second dataset, so that the eye finds its name."""
    for i in range(0, n_datasets, 2):
        axis.axvspan(i - 0.5, i + 0.5, color=_GREY, alpha=0.1, linewidth=0, zorder=-1)
    axis.tick_params(axis="x", length=0)
    axis.grid(axis="y", color=_GREY, alpha=0.25, linewidth=0.6)


def _name_datasets(axis: Axes, datasets: Sequence[str]) -> None:
    axis.set_xlim(-0.5, max(len(datasets), 1) - 0.5)
    axis.set_xticks(range(len(datasets)), [plain_name(name) for name in datasets], rotation=60)
    for label in axis.get_xticklabels():
        label.set(horizontalalignment="right", rotation_mode="anchor")
        label.set_parse_math(False)  # a name is a name, dollars and all


def _adaptive(twin: str) -> list[str]:
    return [method for method, fixed in TWINS.items() if fixed == twin]
