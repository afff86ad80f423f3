"""
Images as patches
=================

A picture is too wide a row for a small table, but it is made of patches, and patches are many and
alike. We cut the handwritten digits of scikit-learn (8 by 8 pixels) into patches of 4 by 4, learn
which patches are usual, and draw where a picture is not.
"""

import matplotlib.pyplot as plt
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from setatoms import GaussianAtomDetector, SetAtomEnsemble, plot

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
BLUE, ORANGE = "#2b8cce", "#e69f00"

images = load_digits().images
train, test = images[:500], images[500:800]


def patches(images):
    """Return all patches of 4 by 4, of shape (n_images * 25, 16)."""
    return sliding_window_view(images, (4, 4), axis=(1, 2)).reshape(-1, 16)


# %%
# Typical patches
# ---------------
#
# A single dictionary of Gaussian atoms can be looked at. Its atoms are edges, strokes and corners,
# with the widest first: red is more ink than usual, blue is less.

dictionary = GaussianAtomDetector(n_atoms=32, random_state=0)
dictionary.fit(patches(train[:200]))
axes = plot.atoms(dictionary, most=16, image_shape=(4, 4))
axes.flat[0].figure.set_size_inches(4.5, 4.8)
for ax in axes.flat:
    ax.spines[:].set_visible(False)
plt.show()

# %%
# A map for each picture
# ----------------------
#
# The ensemble scores all patches of a picture. A pixel is part of up to 16 patches, and gets the
# mean of their scores.

detector = SetAtomEnsemble(budget="fast", random_state=0).fit(patches(train))


def anomaly_map(images):
    """Return the mean score of the patches over each pixel, higher for stranger ones."""
    scores = -detector.score_samples(patches(images)).reshape(-1, 5, 5)
    total, count = np.zeros((len(images), 8, 8)), np.zeros((8, 8))
    for i in range(5):
        for j in range(5):
            total[:, i : i + 4, j : j + 4] += scores[:, i, j, None, None]
            count[i : i + 4, j : j + 4] += 1
    return total / count


# %%
# Three faults: a scratch of full ink across the picture, pixels that come out inverted in a small
# square, and a hole where ink is lost.


def scratch(images):
    """Draw a line along the diagonal."""
    spoiled = images.copy()
    spoiled[:, np.arange(8), np.arange(8)] = 16
    return spoiled


def invert(images):
    """Invert a square of 3 by 3 pixels."""
    spoiled = images.copy()
    spoiled[:, 3:6, 3:6] = 16 - spoiled[:, 3:6, 3:6]
    return spoiled


def lose_ink(images):
    """Clear a square of 3 by 3 pixels."""
    spoiled = images.copy()
    spoiled[:, 3:6, 3:6] = 0
    return spoiled


FAULTS = {
    "as it is": lambda images: images,
    "scratch": scratch,
    "inverted": invert,
    "hole": lose_ink,
}

shown = test[[3, 10, 17]]
fig, panels = plt.subplots(len(shown) * 2, 4, figsize=(5, 7.4), layout="constrained")
for column, (name, spoil) in zip(panels.T, FAULTS.items(), strict=True):
    column[0].set_title(name)
    for i, (picture, its_map) in enumerate(
        zip(spoil(shown), anomaly_map(spoil(shown)), strict=True)
    ):
        column[2 * i].imshow(picture, cmap="gray_r", vmin=0, vmax=16)
        column[2 * i + 1].imshow(its_map, cmap="Oranges", vmin=0.5, vmax=3.5)
for ax in panels.flat:
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
for i, ax in enumerate(panels[:, 0]):
    ax.set_ylabel("map" if i % 2 else "picture")
plt.show()

# %%
# Which pictures are spoiled?
# ---------------------------
#
# The score of a picture is the largest value of its map. Unseen pictures as they are, against the
# same pictures with a fault:

usual = anomaly_map(test).max(axis=(1, 2))
fig, panels = plt.subplots(3, 1, figsize=(5.5, 4.6), sharex=True, layout="constrained")
bins = np.linspace(0, 5, 41)
for ax, (name, spoil) in zip(panels, list(FAULTS.items())[1:], strict=True):
    scores = anomaly_map(spoil(test)).max(axis=(1, 2))
    area = roc_auc_score(np.repeat([0, 1], len(test)), np.concatenate([usual, scores]))
    ax.hist(usual, bins, color=BLUE, alpha=0.7, label="as they are")
    ax.hist(np.minimum(scores, 5), bins, color=ORANGE, alpha=0.7, label=f"{name}: AUC {area:.2f}")
    ax.set(yticks=[], xlim=(0, 6.5))
    ax.spines["left"].set_visible(False)
    ax.legend(frameon=False)
panels[-1].set(xlabel="largest value of the map")
plt.show()

# %%
# Where this fails
# ----------------
#
# A scratch is where ink never is, and is always seen. A hole is harder: a place without ink is the
# most usual patch of all, and only its rim is odd. A patch also does not know which digit it is
# part of. A stroke that is drawn well and in the wrong place is a normal patch.
