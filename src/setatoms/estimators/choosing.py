"""Choose parameters without labels: which tell rows from rows with broken relations best."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from setatoms.coding.validation import check_count
from setatoms.estimators.detecting import ErrorDetector
from setatoms.estimators.ensemble import SetAtomEnsemble
from setatoms.estimators.missing import keep_observed
from setatoms.estimators.parameters import check_parameters
from setatoms.estimators.recipes import OnStep
from setatoms.estimators.tables import read_table
from setatoms.geometry import InfeasibleConesError
from setatoms.progress import Progress

Array = NDArray[np.float64]

# What is tried beside the parameters of the detector, where it has them. Wider radii tell broken
# rows well and real anomalies badly.
GRID: dict[str, tuple[Any, ...]] = {
    "n_nonzero": (3, 4),
    "gamma": (0.5, 2.0),
    "n_atoms": (3.0, 15.0),
    "radii": ((0.01, 0.1),),
}
# A gain below this many standard errors may be luck: several values are tried.
_SURE = 2.0
_HELD_OUT = 1 / 3
_FEWEST_ROWS = 30


@dataclass(frozen=True)
class Candidate:
    """Parameters that were tried.

    Attributes
    ----------
    parameters : dict
        What differs from the detector given.
    aucs : ndarray of shape (n_trials,)
        How well held-out rows were told from rows with broken relations, in each trial; empty if
        the parameters cannot be learned with.
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
        """Whether the gain is more than two standard errors."""
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
    max_rows: int = 3000,
) -> ParameterChoice:
    """Choose sparsity, number of atoms and radii for a table, without labels.

    In each trial a third of the rows is held out. Permuting each of their columns on its own breaks
    the relations between columns and leaves every column as it is. Candidates learn briefly from
    the other rows; the better one tells the held-out rows from the broken ones, by ROC AUC. One
    parameter after the other moves to its best value, if the mean gain over the trials is larger
    than two standard errors; otherwise it stays.

    Parameters
    ----------
    X : array-like or dataframe of shape (n_samples, n_features)
        The table that the detector is meant for, at least 30 rows.
    detector : detector, optional
        Where to start, by default ``SetAtomEnsemble()``; it is not changed. Its `random_state`,
        `n_jobs` and `verbose` are those of the search. Results do not depend on `n_jobs`.
    grid : mapping of str to sequence, optional
        Values to try for each parameter beside that of `detector`. By default few for `n_nonzero`,
        `gamma`, `n_atoms` and `radii`, those of them that the detector has.
    n_trials : int, default=5
        Number of trials, at least 2.
    max_rows : int, default=3000
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
    base.set_params(**base._briefly())
    values = _checked(base, _usual_grid(base) if grid is None else grid, table.shape)
    search = _Search(base, list(_draw_trials(table, n_trials, max_rows, base._generator())))
    with warnings.catch_warnings():
        # a candidate may be too large for the rows, or its n_nonzero for the columns
        warnings.simplefilter("ignore", UserWarning)
        parameters = search.run(values, bool(start.verbose))
    return ParameterChoice(
        parameters, clone(start).set_params(**parameters), tuple(search.candidates)
    )


def _usual_grid(base: Any) -> dict[str, tuple[Any, ...]]:
    """Return what is tried for the parameters that this detector leaves open."""
    known = base.get_params(deep=False)
    # atoms to start from have their number
    fixed = () if isinstance(known.get("init", ""), str) else ("n_atoms",)
    return {name: some for name, some in GRID.items() if name in known and name not in fixed}


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
        self.candidates: list[Candidate] = []

    def run(self, values: Mapping[str, Sequence[Any]], verbose: bool) -> dict[str, Any]:
        """Return the parameters that do best."""
        n_candidates = 1 + sum(map(len, values.values()))
        n_steps = self._base._recipe(*self._trials[0].train.shape).shortened().n_steps
        total = n_candidates * len(self._trials) * n_steps
        with Progress(total, "choose_parameters", enabled=verbose) as progress:
            best = Candidate({}, self._aucs({}, progress.advance), 0.0, 0.0)
            self.candidates.append(best)
            for name, some in values.items():
                tried = [
                    self._try({**best.parameters, name: value}, best, progress.advance)
                    for value in some
                ]
                self.candidates += tried
                best = max([best, *filter(_is_better, tried)], key=_mean)
        return best.parameters

    def _try(self, parameters: dict[str, Any], best: Candidate, on_step: OnStep) -> Candidate:
        try:
            aucs = self._aucs(parameters, on_step)
        except InfeasibleConesError as error:
            return Candidate(parameters, np.empty(0), -np.inf, 0.0, str(error))
        gains = aucs - best.aucs
        standard_error = float(gains.std(ddof=1) / np.sqrt(len(gains)))
        return Candidate(parameters, aucs, float(gains.mean()), standard_error)

    def _aucs(self, parameters: Mapping[str, Any], on_step: OnStep) -> Array:
        return np.array([self._auc(parameters, trial, on_step) for trial in self._trials])

    def _auc(self, parameters: Mapping[str, Any], trial: _Trial, on_step: OnStep) -> float:
        draft = copy(self._base).set_params(**parameters)
        recipe = draft._recipe(*trial.train.shape).shortened()
        # the same stream for every candidate, so that starts are alike
        draft._learn(trial.train, recipe, np.random.default_rng(trial.seed), on_step)
        scores = np.concatenate([draft._score(trial.held_out), draft._score(trial.broken)])
        truth = np.repeat([0, 1], [len(trial.held_out), len(trial.broken)])
        return float(roc_auc_score(truth, -scores))


def _is_better(candidate: Candidate) -> bool:
    return candidate.better


def _mean(candidate: Candidate) -> float:
    return float(candidate.aucs.mean())
