"""
What would have been normal?
============================

``counterfactual`` changes as few values of a row as you allow, so that the row looks normal again.
If one value is wrong, it should find the column and come close to the true value. We test that on
the wine table of scikit-learn, where we know the truth because we spoiled the rows ourselves.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from setatoms import SetAtomEnsemble
from setatoms.datasets import make_dependency_anomalies

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
BLUE, ORANGE, GREY = "#2b8cce", "#e69f00", "#808080"

table = load_wine(as_frame=True).data
table = table.rename(columns={"od280/od315_of_diluted_wines": "od280/od315"})
train, test = train_test_split(table, test_size=0.25, random_state=0)
detector = SetAtomEnsemble(random_state=0).fit(train)

# %%
# One wine
# --------
#
# Somebody wrote the alcohol of this wine with the digits exchanged.

wine = test.iloc[[4]].copy()
truth = wine["alcohol"].item()
wine["alcohol"] = 31.1
answer = detector.counterfactual(wine, k=1)
print("the truth is", truth)
print("changed:", answer.columns[0])
print("score before and after:", answer.score_before.round(1), answer.score_after.round(1))

# %%
# Many wines
# ----------
#
# Every wine that was not learned from is spoiled in each column in turn, by four standard
# deviations. One value may be changed (``k=1``).

deviation = train.std()
records = []
for name in table.columns:
    for sign in (-1, 1):
        spoiled = test.astype(float)
        spoiled[name] += sign * 4 * deviation[name]
        answer = detector.counterfactual(spoiled, k=1)
        proposed = np.asarray(answer.rows)[:, list(table.columns).index(name)]
        records.append(
            pd.DataFrame(
                {
                    "column": name,
                    "right column": [columns[0] == name for columns in answer.columns],
                    "normal again": ~answer.flagged_after,
                    "truth": (test[name] - train[name].mean()) / deviation[name],
                    "proposed": (proposed - train[name].mean()) / deviation[name],
                }
            )
        )
answers = pd.concat(records)
print(answers[["right column", "normal again"]].mean().round(2).to_string())

# %%
# Where the right column was found, how close is the value to the truth? The spread is what the
# other columns leave open. Some columns follow from the others closely, some hardly do.

right = answers[answers["right column"]]
fig, panels = plt.subplots(1, 2, figsize=(6, 3.2), sharex=True, sharey=True, layout="constrained")
for ax, name in zip(panels, ("flavanoids", "ash"), strict=True):
    of_column = right[right["column"] == name]
    ax.plot([-2.5, 3], [-2.5, 3], color=GREY, linewidth=1, linestyle="--")
    ax.scatter(of_column["truth"], of_column["proposed"], s=14, color=BLUE, alpha=0.7)
    ax.set(title=name, xlabel="truth (sd)", aspect="equal")
panels[0].set(ylabel="proposed (sd)")
plt.show()

# %%
# For all columns: the mean distance of the proposed value from the truth, beside that of the mean
# of the column, which anybody could propose.

distance = (right["proposed"] - right["truth"]).abs().groupby(right["column"]).mean().sort_values()
by_mean = right["truth"].abs().groupby(right["column"]).mean()[distance.index]

fig, ax = plt.subplots(figsize=(5.8, 3.8), layout="constrained")
places = np.arange(len(distance))
ax.hlines(places, distance, by_mean, color=GREY, linewidth=1)
ax.plot(distance, places, "o", color=BLUE, label="counterfactual")
ax.plot(by_mean, places, "o", color=ORANGE, fillstyle="none", label="mean of the column")
ax.set_yticks(places, distance.index)
ax.invert_yaxis()
ax.set(xlabel="mean distance from the truth (sd)", xlim=(0, None))
ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(0, 1.18), ncols=2)
plt.show()

# %%
# Where this fails
# ----------------
#
# A row that looks normal again is no proof. Here *all* values come from different wines. There is
# no single wrong value, and still most rows look normal after one change or two.

X, y = make_dependency_anomalies(test, n_anomalies=200, random_state=0)
broken = pd.DataFrame(X[y == 1], columns=table.columns)
broken = broken[detector.predict(broken) == -1]
changes = range(1, 7)
normal_again = [1 - detector.counterfactual(broken, k=k).flagged_after.mean() for k in changes]

fig, ax = plt.subplots(figsize=(5, 2.8), layout="constrained")
ax.bar(list(changes), normal_again, color=BLUE)
ax.set(xlabel="values changed, of 13", ylabel="flagged rows\nthat look normal again", ylim=(0, 1))
ax.yaxis.set_major_formatter("{x:.0%}")
plt.show()
