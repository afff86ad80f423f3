"""
A time series by windows
========================

A table has rows, a time series has none. Cut it into overlapping windows, and each window is a row:
the last few readings of all channels. Relations then hold between channels, and between one moment
and the next.

The series comes with matplotlib: the price of a share on 1,047 days from 2004 to 2008, at the open,
the highest, the lowest, and at the close. We learn from the first 700 days and put faults into the
others.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import cbook
from matplotlib.dates import ConciseDateFormatter
from numpy.lib.stride_tricks import sliding_window_view

from setatoms import SetAtomEnsemble

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
BLUE, ORANGE, GREEN, GREY = "#2b8cce", "#e69f00", "#009e73", "#808080"

with cbook.get_sample_data("goog.npz") as file:
    record = file["price_data"]
dates = record["date"]
prices = np.log(np.column_stack([record[name] for name in ("open", "high", "low", "close")]))
n_learned = 700

# %%
# From a series to rows
# ---------------------
#
# A window of ``width`` days gives a row of ``4 * width`` values. Prices rose to seven times what
# they were, so each window is centred: it holds logarithms relative to its own mean. A row then
# says how prices moved, and not where they were.


def windows(prices, width):
    """Return a row per window, of shape (n_days - width + 1, 4 * width)."""
    rows = sliding_window_view(prices, width, axis=0)
    rows = rows - rows.mean(axis=(1, 2), keepdims=True)
    return rows.reshape(len(rows), -1)


# %%
# Three faults, on every tenth day of the second part:
#
# - *exchanged*: the highest and the lowest price change places;
# - *mistyped*: the price at the open is 5 % too high;
# - *misfiled*: the prices are those of three weeks before: a perfectly normal day, but another one.

spoiled_days = np.arange(n_learned + 20, len(prices), 10)


def exchange(prices, day):
    """Exchange the highest and the lowest price."""
    prices[day, [1, 2]] = prices[day, [2, 1]]


def mistype(prices, day):
    """Raise the price at the open."""
    prices[day, 0] += np.log(1.05)


def misfile(prices, day):
    """Take the prices of another day."""
    prices[day] = prices[day - 15]


FAULTS = {"exchanged": exchange, "mistyped": mistype, "misfiled": misfile}


def spoil(fault):
    """Return the series with one kind of fault."""
    spoiled = prices.copy()
    for day in spoiled_days:
        fault(spoiled, day)
    return spoiled


# %%
# Windows of two days
# -------------------
#
# The score of a window belongs to its last day, so that nothing is said before it can be known. A
# dot is a day on which the prices were misfiled. The days learned from go back to 2004.

detector = SetAtomEnsemble(random_state=0).fit(windows(prices[:n_learned], 2))
scores = -detector.score_samples(windows(spoil(misfile), 2))

fig, (top, bottom) = plt.subplots(2, 1, figsize=(6.5, 4.6), sharex=True, layout="constrained")
shown = np.minimum(scores, 8)
top.plot(dates, np.exp(spoil(misfile)[:, 3]), color=BLUE, linewidth=0.8)
top.set(ylabel="price at the close", ylim=(350, 780), xlim=(dates[550], dates[-1]))
bottom.plot(dates[1:], shown, color=BLUE, linewidth=0.8)
bottom.plot(dates[spoiled_days], shown[spoiled_days - 1], "o", color=ORANGE, markersize=5)
bottom.axhline(-detector.offset_, color=GREY, linestyle="--", linewidth=1)
bottom.set(ylabel="score, cut at 8", ylim=(0, 8.5))
bottom.xaxis.set_major_formatter(ConciseDateFormatter(bottom.xaxis.get_major_locator()))
for ax in (top, bottom):
    ax.axvspan(dates[0], dates[n_learned], color=GREY, alpha=0.15, linewidth=0)
top.text(dates[560], 760, "learned from", va="top")
plt.show()

# %%
# How long should a window be?
# ----------------------------
#
# One day sees that prices of a day do not fit together. It cannot see that a day is not where it
# belongs. Two days can. Longer windows see more, but the fault becomes a small part of a long row,
# and each row needs more others to learn from.

widths = [1, 2, 3, 4, 6]
found = {name: [] for name in FAULTS} | {"none": []}
for width in widths:
    detector = SetAtomEnsemble(random_state=0).fit(windows(prices[:n_learned], width))
    for name, fault in FAULTS.items():
        flagged = detector.predict(windows(spoil(fault), width)) == -1
        found[name].append(flagged[spoiled_days - width + 1].mean())
    found["none"].append(np.mean(detector.predict(windows(prices[n_learned:], width)) == -1))

fig, ax = plt.subplots(figsize=(5.8, 3.2), layout="constrained")
STYLES = zip((BLUE, GREEN, ORANGE, GREY), "os^x", strict=True)
for (name, shares), (colour, marker) in zip(found.items(), STYLES, strict=True):
    ax.plot(widths, shares, color=colour, marker=marker, label=name)
ax.set(xlabel="days in a window", ylabel="days flagged", xticks=widths, ylim=(0, 1.03))
ax.yaxis.set_major_formatter("{x:.0%}")
ax.legend(frameon=False, title="fault", loc="upper left", bbox_to_anchor=(1, 1))
plt.show()

# %%
# Where this fails
# ----------------
#
# A day misfiled into calm weeks is close to the right one, and passes. And the last months are
# those of the crisis of 2008: prices moved more than in all years before, and more days look odd
# although the record is right. The day after a misfiled one is odd too, since its window holds the
# fault. The detector says that they are unlike those it learned from, not that they are wrong.
