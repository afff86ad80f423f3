"""Draw the pictures of the page on the method.

Run as ``python docs/images/make_pictures.py``. Needs the extra ``plot``. Figures are 5 inches wide
with a white background, so that their text can be read on a telephone and on a dark page.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer, load_diabetes

from setatoms import GaussianAtomDetector, SetAtomEnsemble

FOLDER = Path(__file__).parent
WIDTH = 5.0
# After Okabe and Ito: told apart by colour-blind readers.
BLUE, ORANGE, GREEN, RED, GREY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#8a8a8a"
STYLE = {
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "font.size": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "setatoms",
    "svg.fonttype": "path",
}


def point(angle: float, length: float = 1.0) -> np.ndarray:
    """Return the point (2,) at an angle in degrees."""
    return length * np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])


def arrow(ax: Any, tip: np.ndarray, colour: str, name: str, at: np.ndarray) -> None:
    """Draw a vector from the origin, with its name."""
    look = {"arrowstyle": "-|>", "color": colour, "lw": 2.2, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", tip, (0, 0), arrowprops=look)
    ax.text(*at, name, color=colour, ha="center", va="center", fontsize=13)


def draw_sphere(ax: Any, title: str) -> None:
    """Draw a part of the unit circle, as every picture of an atom has it."""
    turn = np.radians(np.linspace(-6, 101, 200))
    ax.plot(np.cos(turn), np.sin(turn), color="#cccccc", lw=1.5)
    ax.set(xlim=(-0.2, 1.45), ylim=(-0.06, 1.22), aspect="equal")
    ax.set_title(title, fontsize=13, loc="left")
    ax.axis("off")


def draw_cone(ax: Any) -> None:
    """Draw a cone, a row outside it, and the member of the cone that the row picks."""
    draw_sphere(ax, "Cone: any member within the radius, free")
    centre, half, row = 62, 17, 24
    turn = np.radians(np.linspace(centre - half, centre + half, 50))
    edge = np.column_stack([np.cos(turn), np.sin(turn)])
    ax.fill(*np.vstack([[0, 0], edge]).T, color=BLUE, alpha=0.16, lw=0)
    ax.plot(*edge.T, color=BLUE, lw=5, solid_capstyle="butt")
    ax.plot(*np.array([point(centre), point(centre + half)]).T, color="black", lw=1.3)
    ax.text(*point(centre + half / 2, 1.1), r"$\rho$", ha="center", va="center", fontsize=13)
    signal = point(row, 1.25)
    chosen = point(centre - half)
    arrow(ax, point(centre), BLUE, "$d$", point(centre - 3, 1.1))
    arrow(ax, chosen, GREEN, "$a$", point(centre - half + 5, 1.09))
    arrow(ax, signal, "black", "row $y$", signal + np.array([0.02, 0.1]))
    foot = chosen * (chosen @ signal)
    ax.plot(*np.array([chosen, foot]).T, color=GREEN, lw=1.5, ls=(0, (1, 1.5)))
    ax.plot(*np.array([foot, signal]).T, color=RED, lw=2, ls=(0, (3, 1.5)))
    ax.text(*((foot + signal) / 2 + [0.12, 0.11]), "error", color=RED, ha="center", va="center")


def draw_gaussian(ax: Any) -> None:
    """Draw a Gaussian atom: members are the cheaper the closer they are to the centre."""
    draw_sphere(ax, "Gaussian: any member, at a price")
    centre, deviation, row = 62, 13, 24
    turn = np.linspace(centre - 34, centre + 34, 120)
    for start, end in pairwise(turn):
        density = np.exp(-0.5 * (((start + end) / 2 - centre) / deviation) ** 2)
        wedge = np.vstack([[0, 0], point(start), point(end)])
        ax.fill(*wedge.T, color=BLUE, alpha=0.30 * density, lw=0)
        ax.plot(*np.array([point(start), point(end)]).T, color=BLUE, lw=6, alpha=density)
    signal, chosen = point(row, 1.25), point(45)
    arrow(ax, point(centre), BLUE, "$d$", point(centre + 1, 1.1))
    arrow(ax, chosen, GREEN, "$a$", point(49, 1.1))
    arrow(ax, signal, "black", "row $y$", signal + np.array([0.02, 0.1]))
    foot = chosen * (chosen @ signal)
    ax.plot(*np.array([chosen, foot]).T, color=GREEN, lw=1.5, ls=(0, (1, 1.5)))
    ax.plot(*np.array([foot, signal]).T, color=RED, lw=2, ls=(0, (3, 1.5)))
    ax.text(*((foot + signal) / 2 + [0.13, 0.1]), "error", color=RED, ha="center", va="center")
    ax.annotate(
        r"price $\|a-d\|^2/\rho^2$",
        point(53, 1.02),
        (0.86, 1.12),
        va="center",
        fontsize=12,
        arrowprops={"arrowstyle": "-", "color": GREY},
    )


def draw_atoms() -> Any:
    """Draw the two kinds of atoms, one above the other."""
    figure, axes = plt.subplots(2, 1, figsize=(WIDTH, 8.0), layout="constrained")
    draw_cone(axes[0])
    draw_gaussian(axes[1])
    return figure


def draw_radii() -> Any:
    """Draw the radii of a real fit over the iterations, the two extremes of use apart."""
    X = load_diabetes().data
    detector = GaussianAtomDetector(n_atoms=2.0, random_state=0).fit(X)
    history = detector.history_
    steps = np.concatenate([[0], history.adapted_at])
    start = np.full((1, history.radii.shape[1]), history.radii[0].mean())
    radii = np.vstack([start, history.radii])
    last = history.usage[-1]
    figure, ax = plt.subplots(figsize=(WIDTH, 3.9), layout="constrained")
    ax.step(steps, radii, where="post", color="#c4c4c4", lw=1)
    for j, colour, name in ((last.argmax(), BLUE, "most used"), (last.argmin(), RED, "least used")):
        ax.step(steps, radii[:, j], where="post", color=colour, lw=2.8)
        ax.text(
            103, radii[-1, j], f"atom {name}\nat the end", color=colour, va="center", fontsize=11
        )
    ax.set(xlabel="iteration", ylabel=r"radius $\rho_j$", xlim=(0, 101))
    ax.set_xticks(range(0, 101, 20))
    return figure


def draw_relations() -> Any:
    """Draw two columns of a real table and a row that is usual in each, and wrong in both."""
    data = load_breast_cancer(as_frame=True).data
    x, y = data["mean radius"].to_numpy(), data["mean area"].to_numpy()
    odd = (24.0, 583.0)
    figure = plt.figure(figsize=(WIDTH, 5.0), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(4, 1), height_ratios=(1, 4))
    ax = figure.add_subplot(grid[1, 0])
    top = figure.add_subplot(grid[0, 0], sharex=ax)
    side = figure.add_subplot(grid[1, 1], sharey=ax)
    ax.scatter(x, y, s=9, color=BLUE, alpha=0.5, lw=0)
    ax.scatter(*odd, s=90, color=RED, marker="X", zorder=3)
    ax.annotate(
        "radius 24, area 583:\nthe pair exists nowhere",
        odd,
        (17.0, 130),
        color=RED,
        fontsize=11,
        arrowprops={"arrowstyle": "-", "color": RED, "shrinkB": 6},
    )
    top.hist(x, 40, color=BLUE, alpha=0.6)
    side.hist(y, 40, color=BLUE, alpha=0.6, orientation="horizontal")
    top.axvline(odd[0], color=RED, lw=2)
    side.axhline(odd[1], color=RED, lw=2)
    for margin in (top, side):
        margin.axis("off")
    ax.set(xlabel="radius", ylabel="area")
    top.set_title("Each value alone is in range", fontsize=13, loc="left")
    return figure


def draw_views() -> Any:
    """Draw what each view alone, and all together, make of every place of a small table."""
    rng = np.random.default_rng(0)
    load = rng.normal(0, 1, 500)
    X = np.column_stack([load, load, -load]) + 0.25 * rng.normal(size=(500, 3))
    # seen in the plane of the first two columns, the third as the first implies
    u, v = np.meshgrid(np.linspace(-7, 7, 110), np.linspace(-7, 7, 110))
    places = np.column_stack([u.ravel(), v.ravel(), -(u.ravel() + v.ravel()) / 2])
    panels = {
        "relation": ("relation",),
        "size": ("size",),
        "rarity": ("rarity",),
        "all three": ("relation", "size", "rarity"),
    }
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 5.4), layout="constrained")
    for ax, (name, views) in zip(axes.flat, panels.items(), strict=True):
        detector = SetAtomEnsemble(views=views, kinds=("gaussian",), random_state=0).fit(X)
        beyond = (detector.offset_ - detector.score_samples(places)).reshape(u.shape)
        ax.contourf(u, v, beyond, levels=[0, np.inf], colors=[RED], alpha=0.25)
        ax.contour(u, v, beyond, levels=[0], colors=[RED], linewidths=0.9)
        ax.scatter(X[:, 0], X[:, 1], s=4, color=BLUE, alpha=0.6, lw=0)
        for (a, b), mark in (((1.5, -1.5), "X"), ((6.0, 6.0), "P")):
            ax.scatter(a, b, s=60, color="black", marker=mark, zorder=3, lw=0)
        ax.set(title=name, xticks=[], yticks=[], aspect="equal")
        ax.title.set_fontsize(13)
    return figure


def main() -> None:
    """Write the pictures beside this file."""
    drawings = {
        "atoms.svg": draw_atoms,
        "radii.svg": draw_radii,
        "relations.png": draw_relations,
        "views.png": draw_views,
    }
    with mpl.rc_context(STYLE):
        for name, draw in drawings.items():
            figure = draw()
            # Drawings are kept as curves; clouds of points would make large files that way.
            metadata = {"Date": None} if name.endswith(".svg") else None
            figure.savefig(FOLDER / name, dpi=160, metadata=metadata)
            plt.close(figure)
            print(f"{name}: {(FOLDER / name).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
