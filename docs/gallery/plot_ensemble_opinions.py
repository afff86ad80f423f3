"""
The opinions of an ensemble
===========================

:class:`~setatoms.SetAtomEnsemble` asks twenty small dictionaries. They learn from different starts,
with different sizes and radii, and they do not agree. This example shows what each of them makes of
a row, and why the mean of the smaller half of their errors is a good verdict.

The table is the diabetes table of scikit-learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from setatoms import SetAtomEnsemble
from setatoms.datasets import make_dependency_anomalies

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
BLUE, ORANGE, GREY = "#2b8cce", "#e69f00", "#808080"

train, test = train_test_split(load_diabetes().data, test_size=0.4, random_state=0)
X, y = make_dependency_anomalies(test, fraction=0.5, random_state=0)
detector = SetAtomEnsemble(views=("relation",), random_state=0).fit(train)

# %%
# What each member says
# ---------------------
#
# A member is a dictionary. Its error of a row, divided by that of a typical training row, is its
# opinion: 1 is usual, 3 is not. Rows are ordered by the verdict of the ensemble.

standardizer = detector.standardizer_


def opinions(rows):
    """Return what each member says of each row, of shape (n_members, n_rows)."""
    Z = (rows - standardizer.mean) / standardizer.scale
    usual = (train - standardizer.mean) / standardizer.scale
    return np.array(
        [member.errors(Z) / np.median(member.errors(usual)) for member in detector.members_]
    )


said = opinions(X)
order = np.argsort(detector.score_samples(X))
kinds = [member.kind.name for member in detector.members_]
by_kind = np.argsort(kinds, kind="stable")

fig, (top, bottom) = plt.subplots(
    2, 1, figsize=(6.5, 4), sharex=True, height_ratios=[12, 1], layout="constrained"
)
image = top.imshow(said[by_kind][:, order], aspect="auto", cmap="Oranges", vmin=0.5, vmax=3)
n_cones = kinds.count("cone")
top.axhline(n_cones - 0.5, color="black", linewidth=1)
top.set_yticks([n_cones / 2 - 0.5, n_cones + (20 - n_cones) / 2 - 0.5], ["cones", "Gaussians"])
top.tick_params(length=0)
bottom.imshow(y[order][None], aspect="auto", cmap="binary", vmin=0, vmax=1)
bottom.set(yticks=[0], yticklabels=["anomalies"], xlabel="rows, the most anomalous first")
bottom.tick_params(axis="y", length=0)
fig.colorbar(image, ax=top, label="error / usual error", ticks=[1, 2, 3])
plt.show()

# %%
# A row with stripes is one on which members disagree. A normal row of a rare kind has atoms in some
# members and none in others; it looks like this. An anomaly is a row that nearly no member can
# represent. So the verdict is the mean of the smaller half.
#
# Together and alone
# ------------------

alone = [roc_auc_score(y, opinion) for opinion in said]
together = roc_auc_score(y, -detector.score_samples(X))

fig, ax = plt.subplots(figsize=(5.8, 3), layout="constrained")
for word, colour, marker in (("Gaussian", BLUE, "o"), ("cone", ORANGE, "s")):
    which = [k for k, kind in enumerate(kinds) if kind == word.lower()]
    ax.plot(which, [alone[k] for k in which], marker, color=colour, label=f"a {word} member")
ax.axhline(together, color="black", linewidth=1.5, label="together")
ax.set(xlabel="number of the member", ylabel="ROC AUC", xticks=[0, 5, 10, 15])
ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
plt.show()

# %%
# How many are enough?
# --------------------
#
# The members of a smaller ensemble are the first members of a larger one, so it is enough to look
# at the first few opinions. Each line is an ensemble with another seed.


def verdict(said):
    """Return the mean of the smaller half of the opinions on each row."""
    return np.sort(said, axis=0)[: -(-len(said) // 2)].mean(axis=0)


sizes = [1, 2, 4, 6, 10, 20, 40]
areas = np.zeros((8, len(sizes)))
for seed in range(8):
    detector = SetAtomEnsemble(n_members=40, views=("relation",), random_state=seed).fit(train)
    said = opinions(X)
    areas[seed] = [roc_auc_score(y, verdict(said[:size])) for size in sizes]

fig, ax = plt.subplots(figsize=(5.5, 3), layout="constrained")
ax.plot(sizes, areas.T, color=GREY, alpha=0.5, linewidth=1)
ax.plot(sizes, areas.mean(axis=0), "o-", color=BLUE, label="mean")
ax.set_xscale("log")
ax.set_xticks(sizes, [str(size) for size in sizes])
ax.minorticks_off()
ax.set(xlabel="members", ylabel="ROC AUC")
ax.legend(frameon=False, loc="lower right")
plt.show()

# %%
# Where this fails
# ----------------
#
# More members help less and less. They also share their faults. On this table cones are weaker than
# Gaussians, and an ensemble cannot know that without labels. Compare the kinds:

for kinds in (("gaussian", "cone"), ("gaussian",), ("cone",)):
    detector = SetAtomEnsemble(kinds=kinds, views=("relation",), random_state=0).fit(train)
    area = roc_auc_score(y, -detector.score_samples(X))
    print(f"{' and '.join(kinds):18} {area:.3f}")
