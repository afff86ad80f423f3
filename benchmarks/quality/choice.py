"""Parameters chosen without labels beside the defaults, on the halves of the ensemble's study.

What `choose_parameters` tries was found on the half to choose by; the other half had no part in it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from benchmarks import markdown
from benchmarks.paper.rows import Rows
from benchmarks.quality.halves import CONFIRMATION, DESIGN, Case, Figures, kept
from benchmarks.quality.options import Options
from benchmarks.quality.splits import unwarned
from setatoms import SetAtomEnsemble, choose_parameters
from setatoms.estimators.choosing import GRID

TITLES = ("table", "default", "chosen", "gain", "what was chosen")
# A search takes as long as several fits, so the half to choose by has one seed.
HALVES = {
    "Design half": replace(DESIGN, seeds=DESIGN.seeds[:1]),
    "Confirmation half": CONFIRMATION,
}
# A difference below this is none: seeds alone move a mean by more.
EQUAL = 1e-4


def study(options: Options) -> str:
    """Run the study."""
    parts = {
        name: compare(half.cases(options.quick), options.keep, options.jobs)
        for name, half in HALVES.items()
    }
    text = "\n\n".join(f"{name}:\n\n{table(found)}" for name, found in parts.items())
    return f"{text}\n\n{goals(parts)}"


def compare(cases: Sequence[Case], folder: Path, n_jobs: int) -> dict[Case, Figures]:
    """Return the figures of each case; what is in `folder` is kept."""
    found: dict[Case, Figures] = {}
    for case in cases:
        found[case] = kept(
            folder / "choice" / str(case),
            (SetAtomEnsemble().get_params(), GRID),
            partial(_judge_case, case, folder, n_jobs),
        )
        click.echo(f"{case} done")
    return found


def _judge_case(case: Case, folder: Path, n_jobs: int) -> Figures:
    return judge(case.rows(folder), case.seed, n_jobs)


def judge(rows: Rows, seed: int, n_jobs: int) -> Figures:
    """Return both AUCs, how many fits long the search was, and a 1 for each parameter chosen."""
    default = SetAtomEnsemble(
        contamination=0.1, views=("relation",), random_state=seed, n_jobs=n_jobs
    )
    with unwarned():
        # the time of this process: others do not count
        began = time.process_time()
        choice = choose_parameters(rows.train, default)
        searched = time.process_time()
        figures = {"default": _auc(default, rows)}
        figures["fits"] = (searched - began) / (time.process_time() - searched)
        figures["chosen"] = _auc(choice.detector, rows) if choice.parameters else figures["default"]
    return figures | {f"{name}={value}": 1.0 for name, value in choice.parameters.items()}


def table(found: Mapping[Case, Figures]) -> str:
    """Return the means over the seeds of each table, and those of all tables."""
    rows = [_line(name, _of_table(found, name)) for name in _names(found)]
    return markdown.table(TITLES, [*rows, _line("all", list(found.values()))])


def goals(parts: Mapping[str, Mapping[Case, Figures]]) -> str:
    """Return whether the choice is worth it: half by half, and held to its goals on all tables."""
    gains = {half: _gains(found) for half, found in parts.items()}
    lines = [f"- {half}: {_in_words(of_half)}." for half, of_half in gains.items()]
    of_all = np.concatenate(list(gains.values()))
    lines.append(
        f"- All tables: {_in_words(of_all)}. Goals: not worse than the defaults on average "
        f"({markdown.verdict(of_all.mean() >= 0)}), better on at least a third of the tables "
        f"({markdown.verdict(3 * np.sum(of_all > EQUAL) >= len(of_all))})."
    )
    fits = np.median([figures["fits"] for found in parts.values() for figures in found.values()])
    lines.append(f"- The search takes as long as {fits:.1f} fits and scorings, in the median.")
    return "\n".join(lines)


def _gains(found: Mapping[Case, Figures]) -> NDArray[np.float64]:
    """Return the gain on each table, the mean of its seeds."""
    return np.array([_gain(_of_table(found, name)) for name in _names(found)])


def _in_words(gains: NDArray[np.float64]) -> str:
    better, worse = np.sum(gains > EQUAL), np.sum(gains < -EQUAL)
    return f"{gains.mean():+.4f} in the mean, better on {better} of {len(gains)}, worse on {worse}"


def _auc(detector: Any, rows: Rows) -> float:
    return float(roc_auc_score(rows.truth, -detector.fit(rows.train).score_samples(rows.test)))


def _names(found: Mapping[Case, Figures]) -> list[str]:
    return list(dict.fromkeys(case.name for case in found))


def _of_table(found: Mapping[Case, Figures], name: str) -> list[Figures]:
    return [figures for case, figures in found.items() if case.name == name]


def _gain(cases: Sequence[Figures]) -> float:
    return float(np.mean([figures["chosen"] - figures["default"] for figures in cases]))


def _line(name: str, cases: Sequence[Figures]) -> list[str]:
    means = [f"{np.mean([case[key] for case in cases]):.4f}" for key in ("default", "chosen")]
    counts = Counter(key for case in cases for key in case if "=" in key)
    chosen = ", ".join(f"{key} ({count})" for key, count in counts.most_common())
    return [name, *means, f"{_gain(cases):+.4f}", chosen or "the defaults"]
