r"""Missing entries are variables of the objective, like the codes.

Whatever a coder minimises, it sees a row only through its squared error
:math:`\lambda \|y - \sum_j x_j a_j\|^2`. Given the code, the best value of a missing entry of
:math:`y` is what the code represents there, and its share of the error is then zero. Coding and
filling in turn never raises the objective. While learning, one fill follows every pass over the
rows and costs no coding. When scoring, each row goes on until its filled entries settle.

A greedy coder puts no price on its coefficients, so a few observed entries could send the missing
ones anywhere. There every missing entry :math:`u` of a standardised row costs
:math:`\lambda \mu u^2` as well: a weak belief that it is near its mean, 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel
from setatoms.backends import run_chunks
from setatoms.coding.batch import Coder, code
from setatoms.coding.chunks import Outputs

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]

# A row is done when a pass would move it by less than this share of its largest entry; as the
# objective is flat there, its score would change by the square of that.
_SETTLED = 1e-4
_MOST_PASSES = 30
# A leap is at most this many times as long as a plain step.
_LONGEST_LEAP = 10.0
# A few rows of each chunk take many passes, alone: large chunks have fewer such passes.
_CHUNK_ROWS = 4096


@dataclass(frozen=True)
class Gaps:
    r"""What missing entries cost.

    Parameters
    ----------
    lam : float
        The weight :math:`\lambda` of the squared error in what the coder minimises.
    price : float
        The weight :math:`\mu` of a missing entry's own square, relative to `lam`.
    """

    lam: float
    price: float

    def values(self, rows: Array, residuals: Array) -> Array:
        """Return the best values of all entries of `rows` (n, n_features), were they missing."""
        return (rows - residuals) / (1.0 + self.price)

    def close(self, rows: Array, missing: Mask, out: Outputs) -> None:
        """Fill `rows` (n, n_features) in place where `missing`; bring their codes `out` in step.

        Errors then count observed entries alone.
        """
        close_rows(rows, missing, self.lam, self.price, out)

    def objective(self, rows: Array, missing: Mask, out: Outputs) -> Array:
        """Return what is minimised, for the codes `out` of `rows` and the best missing entries."""
        with np.errstate(over="ignore", invalid="ignore"):
            gaps = np.where(missing, out.residuals, 0.0)
            values = np.where(missing, self.values(rows, out.residuals), 0.0)
            own = out.objective if len(out.objective) else self.lam * _squares(out.residuals)
            price = self.price * (1.0 + self.price) * _squares(values)
            return own + self.lam * (price - _squares(gaps))


@kernel
def close_rows(rows, missing, lam, price, out):
    """Do what `Gaps.close` says."""
    for row in range(rows.shape[0]):
        signal, residual = rows[row], out.residuals[row]
        square = peak = 0.0
        for i in range(signal.shape[0]):
            if missing[row, i]:
                square += residual[i] * residual[i]
                filled = (signal[i] - residual[i]) / (1.0 + price)
                residual[i] += filled - signal[i]
                signal[i] = filled
            else:
                peak = max(peak, abs(residual[i]))
        out.errors[row] = _observed_norm(residual, missing[row], peak)
        if out.objective.shape[0] > 0:
            out.objective[row] -= lam * square


@kernel
def _observed_norm(residual, missing, peak):
    """Return the norm of the observed entries (m,), the largest of which is peak."""
    if peak == 0.0:
        return 0.0
    square = 0.0
    for i in range(residual.shape[0]):
        if not missing[i]:
            square += (residual[i] / peak) ** 2
    return peak * np.sqrt(square)


# the smallest of 0.1, 0.3 and 1, as scores are best without any and filled entries far worse
GREEDY = Gaps(lam=1.0, price=0.1)


class Filled(NamedTuple):
    """Rows with their missing entries filled, and what their codes leave.

    Attributes
    ----------
    rows : ndarray of shape (n_samples, n_features)
        The rows to code. Entries that were observed are as given.
    values : ndarray of shape (n_samples, n_features)
        The best values of all entries, given the codes of `rows`.
    residuals : ndarray of shape (n_samples, n_features)
        What the codes leave of the observed entries, 0 elsewhere.
    objective : ndarray of shape (n_samples,)
        What is minimised.
    n_passes : ndarray of shape (n_samples,)
        How often each row was coded.
    """

    rows: Array
    values: Array
    residuals: Array
    objective: Array
    n_passes: NDArray[np.int64]


def fill_rows(
    coder: Coder,
    gaps: Gaps,
    X: Array,
    missing: Mask,
    *,
    most_passes: int = _MOST_PASSES,
    n_jobs: int | None = -1,
) -> Filled:
    """Fill the missing entries of X (n_samples, n_features) until they settle, row by row.

    They start as they are in X. The best state of each row is kept, so its objective never rises,
    also where a greedy coder changes its mind about the atoms.

    Parameters
    ----------
    coder : Coder
        Atoms made ready to code.
    gaps : Gaps
        What missing entries cost.
    X : ndarray of shape (n_samples, n_features)
        Rows, finite. Not changed.
    missing : ndarray of shape (n_samples, n_features)
        Which entries were not observed.
    most_passes : int, default=30
        A row that was coded this many times is left as it is.
    n_jobs : int or None, default=-1
        Threads; the result does not depend on it.
    """

    def task(start: int, stop: int) -> Filled:
        search = _Search(coder, gaps, X[start:stop].copy(), missing[start:stop])
        while search.goes_on(most_passes):
            search.step()
        return search.found

    parts = run_chunks(task, len(X), n_jobs=n_jobs, chunk_rows=_CHUNK_ROWS)
    return Filled(*map(np.concatenate, zip(*parts, strict=True)))


def row_norms(R: Array) -> Array:
    """Return the Euclidean norms of the rows of R (n, n_features), however large its entries."""
    peaks = np.abs(R).max(axis=1)
    peaks[peaks == 0] = 1.0
    return peaks * np.sqrt(_squares(R / peaks[:, None]))


class _Search:
    """The search for the filled entries of a chunk of rows, each on its own.

    A pass would move the missing entries u of a row by f(u). Two passes tell how f changes with u,
    and where it would vanish on a straight line (Anderson's mixing of depth one). Such a leap is
    kept if it lowers the objective. Otherwise the plain step is taken, and when that does not
    lower it either, the row is done.
    """

    def __init__(self, coder: Coder, gaps: Gaps, rows: Array, missing: Mask) -> None:
        self._coder, self._gaps, self._missing = coder, gaps, missing
        everything = np.arange(len(rows))
        self.found = Filled(rows, *self._code(rows, everything), np.ones(len(rows), np.int64))
        self._moves = self._moves_of(everything)
        self._trial = rows + self._moves
        self._leapt = np.zeros(len(rows), np.bool_)
        self._active = self._unsettled(everything)

    def goes_on(self, most_passes: int) -> bool:
        """Tell whether any row can still improve."""
        self._active = self._active[self.found.n_passes[self._active] < most_passes]
        return len(self._active) > 0

    def step(self) -> None:
        """Code the trial of every active row, keep those that improve, and plan the next."""
        active = self._active
        values, residuals, objective = self._code(self._trial[active], active)
        self.found.n_passes[active] += 1
        better = objective < self.found.objective[active]
        improved, worse = active[better], active[~better]
        retried = worse[self._leapt[worse]]
        self._leapt[improved], self._leapt[retried] = True, False
        self._trial[retried] = self.found.rows[retried] + self._moves[retried]
        self._keep(improved, values[better], residuals[better], objective[better])
        self._active = np.sort(np.concatenate([self._unsettled(improved), retried]))

    def _keep(self, at: Indices, values: Array, residuals: Array, objective: Array) -> None:
        """Accept the trials of the rows `at` and leap on from there."""
        steps, before = self._trial[at] - self.found.rows[at], self._moves[at]
        self.found.rows[at] = self._trial[at]
        self.found.values[at] = values
        self.found.residuals[at] = residuals
        self.found.objective[at] = objective
        moves = self._moves[at] = self._moves_of(at)
        self._trial[at] += _leap(moves, moves - before, steps)

    def _code(self, rows: Array, at: Indices) -> tuple[Array, Array, Array]:
        missing = self._missing[at]
        out = code(self._coder, rows, n_jobs=1)
        values = np.where(missing, self._gaps.values(rows, out.residuals), rows)
        objective = self._gaps.objective(rows, missing, out)
        return values, np.where(missing, 0.0, out.residuals), objective

    def _moves_of(self, at: Indices) -> Array:
        return self.found.values[at] - self.found.rows[at]

    def _unsettled(self, at: Indices) -> Indices:
        scale = np.abs(self.found.rows[at]).max(axis=1)
        return at[np.abs(self._moves[at]).max(axis=1) > _SETTLED * scale]


def _leap(moves: Array, change: Array, steps: Array) -> Array:
    """Return the way to where moves (n, m) vanish if they go on to change as in the last steps."""
    square = _squares(change)
    share = np.einsum("ij,ij->i", moves, change) / np.where(square > 0, square, 1.0)
    leap = moves - share[:, None] * (steps + change)
    longest = _LONGEST_LEAP * np.sqrt(_squares(moves))
    length = np.sqrt(_squares(leap))
    return leap * np.where(length > longest, longest / np.maximum(length, 1e-300), 1.0)[:, None]


def _squares(R: Array) -> Array:
    """Return the squared norms of the rows of R (n, m)."""
    return np.einsum("ij,ij->i", R, R)
