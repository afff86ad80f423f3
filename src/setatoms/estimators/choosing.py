"""Choose parameters without labels: which tell rows from rows with broken relations best."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from setatoms.coding.validation import check_count
from setatoms.estimators.detecting import ErrorDetector
from setatoms.estimators.ensemble import SetAtomEnsemble
from setatoms.estimators.members import FEWEST_ROWS_PER_ATOM
from setatoms.estimators.missing import keep_observed
from setatoms.estimators.parameters import check_parameters
from setatoms.estimators.tables import read_table
from setatoms.geometry import InfeasibleConesError
from setatoms.progress import Progress
from setatoms.rows import MemoryRows, OnStep
from setatoms.views import RELATION_ALONE

Array = NDArray[np.float64]

# What is tried beside the parameters of the detector, where it has them.
GRID: dict[str, tuple[Any, ...]] = {
    "n_atoms": (15.0,),
    "gamma": (0.5, 2.0),
    "n_nonzero": (3,),
    "radii": ((0.01, 0.1),),
}
# A gain below this many standard errors is too likely to be luck.
_SURE = 1.0
# A candidate that is behind after so many trials gets no more.
_FIRST_TRIALS = 2
_HELD_OUT = 1 / 4
_FEWEST_ROWS = 30
# Held-out rows are left out that may be anomalies themselves: a bit more than their likely share,
# and never more than half.
_MARGIN = 1.2
_MOST_LEFT_OUT = 0.5


@dataclass(frozen=True)
class Candidate:
    """Parameters that were tried.

    Attributes
    ----------
    parameters : dict
        What differs from the detector given.
    aucs : ndarray of shape (n_trials,)
        How well held-out rows were told from rows with broken relations, in each trial; fewer if
        the parameters were behind after two, none if they cannot be learned with.
    gain : float
        By how much the mean is above that of the parameters that were best until then.
    standard_error : float
        That of the gain.
    trouble : str
        Why the parameters cannot be learned with, empty if they can.
    """

    parameters: dict[str, Any]
    aucs: Array
    gain: float
    standard_error: float
    trouble: str = ""

    @property
    def better(self) -> bool:
        """Whether the gain is more than its standard error."""
        return self.gain > _SURE * self.standard_error


@dataclass(frozen=True)
class ParameterChoice:
    """What `choose_parameters` found.

    Attributes
    ----------
    parameters : dict
        The parameters that differ from those of the detector given; empty if none did better.
    detector : detector
        One with these parameters, not fitted.
    candidates : tuple of Candidate
        All that was tried, in order; the first is the detector as given.
    """

    parameters: dict[str, Any]
    detector: Any
    candidates: tuple[Candidate, ...]


class _Trial(NamedTuple):
    """Rows to learn from, rows held out, and these with broken relations; the seed of learning."""

    train: Array
    held_out: Array
    broken: Array
    seed: int


def choose_parameters(
    X: Any,
    detector: Any = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    n_trials: int = 5,
    max_rows: int = 6000,
) -> ParameterChoice:
    """Choose sparsity, number of atoms and radii for a table, without labels.

    In each trial a quarter of the rows is held out. Permuting each of their columns on its own
    breaks the relations between columns and leaves every column as it is. Candidates learn from the
    other rows, ensembles with few members and others briefly; the better one tells the held-out
    rows from the broken ones, by ROC AUC. How many of the held-out rows can be anomalies themselves
    is estimated from how many score like broken ones; as many of the lowest are left out.

    One parameter after the other moves to its best value, if the mean gain over the trials is
    larger than its standard error; otherwise it stays.

    Parameters
    ----------
    X : array-like or dataframe of shape (n_samples, n_features)
        The table that the detector is meant for, at least 30 rows.
    detector : detector, optional
        Where to start, by default ``SetAtomEnsemble()``; it is not changed. Its `random_state`,
        `n_jobs` and `verbose` are those of the search. Results do not depend on `n_jobs`.
    grid : mapping of str to sequence, optional
        Values to try for each parameter beside that of `detector`. By default few for `n_atoms`,
        `gamma`, `n_nonzero` and `radii`, those of them that the detector has; numbers of atoms only
        where there are 20 rows for each.
    n_trials : int, default=5
        Number of trials, at least 2.
    max_rows : int, default=6000
        A trial takes a random sample of as many rows of a larger table.

    Returns
    -------
    choice : ParameterChoice
        With `parameters`, a `detector` ready to fit, and all `candidates`.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms import ConeAtomDetector, choose_parameters
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 6)) + 0.1 * rng.normal(size=(300, 6))
    >>> sparse = ConeAtomDetector(n_nonzero=1, random_state=0)
    >>> choice = choose_parameters(X, sparse, {"n_nonzero": [2]})
    >>> choice.parameters  # three causes: one atom is not enough for a row
    {'n_nonzero': 2}
    >>> detector = choice.detector.fit(X)
    """
    start = SetAtomEnsemble() if detector is None else detector
    if not isinstance(start, ErrorDetector):
        raise TypeError(
            f"detector={start!r} is no detector of setatoms; give one, such as SetAtomEnsemble()"
        )
    check_count("n_trials", n_trials, least=2)
    check_count("max_rows", max_rows, least=_FEWEST_ROWS)
    check_parameters(start)
    base = clone(start)
    table = keep_observed(read_table(base, X, fitting=True), base._names())
    if len(table) < _FEWEST_ROWS:
        raise ValueError(
            f"X has {len(table)} rows, too few to hold some out; give at least {_FEWEST_ROWS}, "
            "or keep the default parameters"
        )
    values = _checked(base, _usual_grid(base, *table.shape) if grid is None else grid, table.shape)
    trials = list(_draw_trials(table, n_trials, max_rows, base._generator()))
    with warnings.catch_warnings():
        # a candidate may be too large for the rows, or its n_nonzero for the columns
        warnings.simplefilter("ignore", UserWarning)
        search = _Search(base, trials)
        parameters = search.run(values, bool(start.verbose))
    return ParameterChoice(
        parameters, clone(start).set_params(**parameters), tuple(search.candidates)
    )


def _usual_grid(base: Any, n_samples: int, n_features: int) -> dict[str, tuple[Any, ...]]:
    """Return what is tried for the parameters that this detector leaves open."""
    known = base.get_params(deep=False)
    grid = {name: some for name, some in GRID.items() if name in known}
    # atoms to start from have their number
    open_number = isinstance(known.get("init", ""), str)
    most = n_samples / n_features / FEWEST_ROWS_PER_ATOM if open_number else 0.0
    sizes = tuple(size for size in GRID["n_atoms"] if size <= most)
    return {**grid, "n_atoms": sizes}


def _checked(
    base: Any, grid: Mapping[str, Sequence[Any]], shape: tuple[int, int]
) -> dict[str, list[Any]]:
    """Return the values of the grid, if a detector can have each of them."""
    known = base.get_params(deep=False)
    unknown = [name for name in grid if name not in known]
    if unknown:
        raise ValueError(
            f"grid has {unknown[0]!r}, which {type(base).__name__} does not; it has "
            f"{', '.join(known)}"
        )
    values = {name: list(some) for name, some in grid.items()}
    for name, some in values.items():
        for value in some:
            draft = copy(base).set_params(**{name: value})
            check_parameters(draft)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                draft._recipe(*shape)
    return values


def _draw_trials(
    table: Array, n_trials: int, max_rows: int, rng: np.random.Generator
) -> Iterator[_Trial]:
    n_rows = min(len(table), max_rows)
    n_held_out = round(_HELD_OUT * n_rows)
    for stream in rng.spawn(n_trials):
        rows = table[stream.permutation(len(table))[:n_rows]]
        held_out, train = rows[:n_held_out], rows[n_held_out:]
        broken = stream.permuted(held_out, axis=0)
        yield _Trial(train, held_out, broken, int(stream.integers(2**31)))


class _Search:
    """Try candidates on the same trials, one parameter after the other."""

    def __init__(self, base: Any, trials: list[_Trial]) -> None:
        self._base = base
        self._trials = trials
        self._n_steps = base._trial_recipe(*trials[0].train.shape).n_steps
        self._kept = 1.0  # the share of held-out rows that count
        self.candidates: list[Candidate] = []

    def run(self, values: Mapping[str, Sequence[Any]], verbose: bool) -> dict[str, Any]:
        """Return the parameters that do best."""
        n_candidates = 1 + sum(map(len, values.values()))
        total = n_candidates * len(self._trials) * self._n_steps
        with Progress(total, "choose_parameters", enabled=verbose) as progress:
            best = self._try_given(progress.advance)
            self.candidates.append(best)
            for name, some in values.items():
                tried = [
                    self._try({**best.parameters, name: value}, best, progress.advance)
                    for value in some
                ]
                self.candidates += tried
                best = max([best, *filter(_is_better, tried)], key=_mean)
        return best.parameters

    def _try_given(self, on_step: OnStep) -> Candidate:
        """Try the parameters as they are; see what share of the rows may be anomalies."""
        scores = [self._score({}, trial, on_step) for trial in self._trials]
        held_out, broken = map(np.concatenate, zip(*scores, strict=True))
        self._kept = 1 - min(_MOST_LEFT_OUT, _MARGIN * share_like(held_out, broken))
        return Candidate({}, np.array([self._area(*pair) for pair in scores]), 0.0, 0.0)

    def _try(self, parameters: dict[str, Any], best: Candidate, on_step: OnStep) -> Candidate:
        aucs: list[float] = []
        try:
            for trial in self._trials:
                aucs.append(self._area(*self._score(parameters, trial, on_step)))
                if len(aucs) >= _FIRST_TRIALS and np.mean(aucs) < np.mean(best.aucs[: len(aucs)]):
                    break
        except InfeasibleConesError as error:
            return Candidate(parameters, np.empty(0), -np.inf, 0.0, str(error))
        finally:
            on_step((len(self._trials) - len(aucs)) * self._n_steps, "")
        gains = np.array(aucs) - best.aucs[: len(aucs)]
        standard_error = float(gains.std(ddof=1) / np.sqrt(len(gains)))
        return Candidate(parameters, np.array(aucs), float(gains.mean()), standard_error)

    def _score(
        self, parameters: Mapping[str, Any], trial: _Trial, on_step: OnStep
    ) -> tuple[Array, Array]:
        """Return the scores of the rows held out, and of the broken ones."""
        # rows with broken relations are told by their relations
        draft = copy(self._base).set_params(views=RELATION_ALONE, **parameters)
        recipe = draft._trial_recipe(*trial.train.shape)
        # the same stream for every candidate, so that starts are alike
        draft._learn(MemoryRows(trial.train), recipe, np.random.default_rng(trial.seed), on_step)
        return draft._score(trial.held_out), draft._score(trial.broken)

    def _area(self, held_out: Array, broken: Array) -> float:
        """Return how well the rows that count are told from the broken ones."""
        normal = np.sort(held_out)[-math.ceil(self._kept * len(held_out)) :]
        truth = np.repeat([0, 1], [len(normal), len(broken)])
        # scikit-learn's metrics take as long to import as a third of this library
        from sklearn.metrics import roc_auc_score

        return float(roc_auc_score(truth, -np.concatenate([normal, broken])))


def share_like(scores: Array, others: Array) -> float:
    """Return the largest share of `scores` that may come from where `others` come from.

    Below any limit lies at least that share times the share of `others` there.
    """
    limits = np.quantile(others, np.linspace(0.05, 1.0, 96))
    below, of_others = (
        np.searchsorted(np.sort(some), limits, side="right") / len(some)
        for some in (scores, others)
    )
    return float(np.min(below / of_others))


def _is_better(candidate: Candidate) -> bool:
    return candidate.better


def _mean(candidate: Candidate) -> float:
    return float(candidate.aucs.mean())
