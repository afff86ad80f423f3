"""
What cones and Gaussians are
============================

A dictionary is a list of typical directions, called atoms. A row is written as a combination of a
few atoms, and the part that is left over is its error. In ordinary dictionary learning an atom is
one direction. Here an atom is a *set* of directions, and each row picks the member that suits it.

- A *cone* is all directions within a radius of its centre. Inside, the error is zero.
- A *Gaussian* has no rim. Directions near the centre are cheap, others cost more and more.

The pictures use the iris table of scikit-learn: petals of 150 flowers.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from setatoms import ConeAtomDetector, cone_omp, gauss_l1, omp

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
BLUE, ORANGE, GREY = "#2b8cce", "#e69f00", "#808080"

iris = load_iris(as_frame=True).data
Z = StandardScaler().fit_transform(iris)

# %%
# Two columns, one atom
# ---------------------
#
# The length and the width of a petal grow together. In standardised units one direction says so. We
# measure the error on a grid of points, for one atom of each kind. The radius is larger than usual,
# so that it can be seen.

centre, radius = np.array([[1.0, 1.0]]) / np.sqrt(2), [0.3]
axis = np.linspace(-2.2, 2.2, 121)
grid = np.column_stack([part.ravel() for part in np.meshgrid(axis, axis)])
errors = {
    "vector": omp(grid, centre, n_nonzero=1).errors,
    "cone": cone_omp(grid, centre, radius, n_nonzero=1).errors,
    "Gaussian": gauss_l1(grid, centre, radius).errors,
}

fig, panels = plt.subplots(1, 3, figsize=(7, 3.1), sharey=True, layout="constrained")
for ax, (name, error) in zip(panels, errors.items(), strict=True):
    shades = ax.contourf(
        axis, axis, error.reshape(121, 121), levels=np.linspace(0, 3.2, 17), cmap="Oranges"
    )
    ax.scatter(Z[:, 2], Z[:, 3], s=5, color=BLUE)
    ax.plot([-2.2, 2.2], [-2.2, 2.2], color="black", linewidth=1)
    ax.set(title=name, aspect="equal", xlabel="petal length (sd)", xticks=[-2, 0, 2])
panels[0].set(ylabel="petal width (sd)", yticks=[-2, 0, 2])
fig.colorbar(shades, ax=panels, label="error", shrink=0.75, ticks=[0, 1, 2, 3])
plt.show()

# %%
# The black line is the centre of the atom. For a vector every step away from the line is an error.
# A cone forgives what lies inside its rim, and it forgives more in absolute terms for long rows. A
# Gaussian also forgives, but never all of it: its sparsity term shortens every row a little, which
# is why rows on the line keep an error.
#
# Along the line
# --------------
#
# Walk across the line, at a distance of two from the origin, and read the errors.

angle = np.linspace(-60, 60, 241)
turned = np.radians(45 + angle)
walk = 2 * np.column_stack([np.cos(turned), np.sin(turned)])
profiles = {
    "vector": (omp(walk, centre, n_nonzero=1).errors, GREY),
    "cone": (cone_omp(walk, centre, radius, n_nonzero=1).errors, BLUE),
    "Gaussian": (gauss_l1(walk, centre, radius).errors, ORANGE),
}

fig, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
for name, (error, colour) in profiles.items():
    ax.plot(angle, error, color=colour, linewidth=2, label=name)
ax.set(xlabel="angle between row and atom (degrees)", ylabel="error", xticks=range(-60, 61, 30))
ax.legend(frameon=False)
plt.show()

# %%
# Three columns, learned cones
# ----------------------------
#
# In three columns a cone cuts a cap out of the unit sphere. The rows, scaled to length one, are the
# dots. A direction and its opposite belong to the same atom, since coefficients may be negative, so
# we draw all rows on one side.

columns = ["sepal length (cm)", "petal length (cm)", "petal width (cm)"]
detector = ConeAtomDetector(
    n_atoms=5, n_nonzero=1, radii=(0.1, 0.35), views=("relation",), random_state=0
)
detector.fit(iris[columns])

rows = StandardScaler().fit_transform(iris[columns])
rows /= np.linalg.norm(rows, axis=1, keepdims=True)
rows *= np.sign(rows.sum(axis=1, keepdims=True))
atoms = detector.components_ * np.sign(detector.components_.sum(axis=1, keepdims=True))


def rim(atom, radius):
    """Return points around the rim of a cone, on the unit sphere."""
    sideways = np.linalg.svd(atom[None])[2][1:]
    turn = np.linspace(0, 2 * np.pi, 100)
    half_angle = 2 * np.arcsin(radius / 2)
    around = np.outer(np.cos(turn), sideways[0]) + np.outer(np.sin(turn), sideways[1])
    return np.cos(half_angle) * atom + np.sin(half_angle) * around


fig = plt.figure(figsize=(5.5, 5), layout="constrained")
ax = fig.add_subplot(projection="3d", computed_zorder=False)
u, v = np.mgrid[0 : 2 * np.pi : 40j, 0 : np.pi : 20j]
ax.plot_wireframe(
    np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v), color=GREY, alpha=0.15, linewidth=0.6
)
ax.scatter(*rows.T, s=8, color=BLUE, depthshade=False)
for atom, size in zip(atoms, detector.radii_, strict=True):
    ax.plot(*rim(atom, size).T, color=ORANGE, linewidth=2)
    ax.plot(*np.outer([0, 1], atom).reshape(2, 3).T, color=ORANGE, linewidth=0.8)
for column, place in zip(columns, np.diag([1.75, 1.5, 1.3]), strict=True):
    ax.plot(*np.outer([0, 1], place / 1.1).T, color="black", linewidth=1)
    ax.text(*place, column.removesuffix(" (cm)"), ha="center", va="center")
ax.view_init(elev=25, azim=40)
ax.set_axis_off()
ax.set(xlim=(-0.8, 0.8), ylim=(-0.8, 0.8), zlim=(-0.8, 0.8))
ax.set_box_aspect((1, 1, 1))
plt.show()

# %%
# Wide cones lie where most rows point, narrow ones where few do. How the radii get there is the
# story of *What radii learn*. Cones are kept apart: no two of them overlap.
#
# Where this fails
# ----------------
#
# A cone widens with the length of a row. A row that is a thousand times too long, along an atom,
# has no error at all. With ``views=("relation",)`` it would pass. The default views also look at
# the size of a row, and at its neighbours.

far = iris[columns].mean() + 1000 * iris[columns].std()
careful = ConeAtomDetector(n_atoms=5, n_nonzero=1, random_state=0).fit(iris[columns])
print("relation alone:", detector.predict(far.to_frame().T))
print("all views:     ", careful.predict(far.to_frame().T))
