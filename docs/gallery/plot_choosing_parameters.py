"""
Choosing parameters without labels
==================================

How many atoms, how wide, how sparse? Without labels there is nothing to score a choice against, but
there is a trick: break the relations of held-out rows on purpose, by permuting each column, and see
which parameters tell them from the real ones. ``choose_parameters`` does that.

Here we check the trick against the truth, on the diabetes table of scikit-learn: do the parameters
that win the trials also find faults of another kind?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from setatoms import ConeAtomDetector, choose_parameters

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
BLUE, ORANGE, GREY = "#2b8cce", "#e69f00", "#808080"

train, test = train_test_split(load_diabetes().data, test_size=0.4, random_state=0)

# %%
# The trials
# ----------
#
# We start from cones with two atoms per row, as in the paper, and offer a few other values.

start = ConeAtomDetector(n_atoms=2.0, views=("relation",), random_state=0)
grid = {"n_nonzero": [1, 3, 4, 5], "n_atoms": [1.0, 2.6], "radii": [(0.01, 0.1), (0.1, 0.3)]}
choice = choose_parameters(train, start, grid, n_trials=8)
print("chosen:", choice.parameters)

# %%
# Each candidate has its result in each trial, and its gain over the best until then. A parameter
# moves only if the gain is larger than its standard error. A candidate that is behind after two
# trials gets no more.


def label(candidate):
    """Return the parameters of a candidate, in short."""
    given = [f"{name}={value}" for name, value in candidate.parameters.items()]
    return ", ".join(given) or "as given"


fig, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for place, candidate in enumerate(choice.candidates):
    colour = ORANGE if candidate.parameters == choice.parameters else BLUE
    ax.plot(
        candidate.aucs, [place] * len(candidate.aucs), "o", color=colour, alpha=0.6, markersize=4
    )
    ax.plot(candidate.aucs.mean(), place, "|", color="black", markersize=14, markeredgewidth=2)
ax.set_yticks(range(len(choice.candidates)), [label(each) for each in choice.candidates])
ax.invert_yaxis()
ax.set(xlabel="ROC AUC in a trial, orange: chosen")
plt.show()

# %%
# Against the truth
# -----------------
#
# The faults we care about are not permuted columns. Three values of a row come from another row,
# the same for all three. How well does each candidate find them, in rows that no trial has seen?

rng = np.random.default_rng(0)
broken = np.repeat(test, 3, axis=0)
for row in broken:
    columns = rng.choice(test.shape[1], 3, replace=False)
    row[columns] = test[rng.integers(len(test)), columns]
rows, y = np.vstack([test, broken]), np.repeat([0, 1], [len(test), len(broken)])

truth = []
for candidate in choice.candidates:
    areas = []
    for seed in range(5):
        detector = clone(start).set_params(**candidate.parameters, random_state=seed)
        areas.append(roc_auc_score(y, -detector.fit(train).score_samples(rows)))
    truth.append(np.mean(areas))
trials = [candidate.aucs.mean() for candidate in choice.candidates]

fig, ax = plt.subplots(figsize=(5, 3.6), layout="constrained")
for trial, area, candidate in zip(trials, truth, choice.candidates, strict=True):
    chosen = candidate.parameters == choice.parameters
    colour = ORANGE if chosen else "black" if not candidate.parameters else BLUE
    name = "chosen" if chosen else "as given" if not candidate.parameters else None
    ax.plot(trial, area, "o", color=colour, markersize=9 if name else 6, label=name)
ax.set(xlabel="in the trials, without labels", ylabel="on the faults we care about")
ax.legend(frameon=False)
plt.show()

# %%
# Here the trials put the candidates into nearly the right order, without a label.
#
# Where this fails
# ----------------
#
# The trials know broken relations and nothing else. If the faults that matter to you are of another
# kind, such as rows that are far out, the choice says nothing about them. It also costs several
# times as much as a fit, and on many tables the defaults stay as they are.
