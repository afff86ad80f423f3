"""The learning loop: code all signals, move the atoms, now and then reassign the radii."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from setatoms.coding.gauss.problem import NO_CODES
from setatoms.coding.validation import check_magnitude
from setatoms.learning.aksvd import have_stopped
from setatoms.learning.dictionary import FittedDictionary
from setatoms.learning.history import History, Recorder
from setatoms.learning.kinds.base import AtomKind
from setatoms.learning.missing import Mask
from setatoms.learning.passes import Memory, State, rows_of_a_part
from setatoms.learning.radii import AdaptiveRadii, FixedRadii
from setatoms.learning.statistics import Statistics

Array = NDArray[np.float64]


class Learned(NamedTuple):
    """What learning returns.

    Attributes
    ----------
    dictionary : FittedDictionary
        What was learned.
    effective_users : ndarray of shape (n_atoms,) or None
        How many signals used each atom in the last pass, see `Statistics`; None if not counted.
    """

    dictionary: FittedDictionary
    effective_users: Array | None = None


class Signals(Protocol):
    """Signals to learn from, wherever they are."""

    def begin(self, kind: AtomKind, atoms: Array, radii: Array) -> None:
        """Make ready for passes with atoms of this kind, as many as these."""

    def statistics(self, kind: AtomKind, atoms: Array, radii: Array) -> Statistics:
        """Code all signals and sum up what moves the atoms."""

    def states(self) -> list[State]:
        """Return what passes have left behind, part by part."""

    def restore(self, states: Sequence[State]) -> None:
        """Go on from what other passes have left behind."""


class Standing(NamedTuple):
    """How far learning is.

    Attributes
    ----------
    k : int
        Iterations that are done.
    atoms, radii : ndarray
        What they have come to.
    users : ndarray of shape (n_atoms,) or None
        How many signals used each atom in the last pass.
    still : bool
        Whether no atom has moved.
    history : History
        How it went.
    random : dict
        The state of the generator.
    states : list of State
        What the signals keep.
    """

    k: int
    atoms: Array
    radii: Array
    users: Array | None
    still: bool
    history: History
    random: Any
    states: list[State]


class Keeper(Protocol):
    """Keeps how far learning is, so that it can go on after its end."""

    def resume(self) -> Standing | None:
        """Return what was kept last, or None."""

    def is_due(self) -> bool:
        """Tell whether it is time to keep something."""

    def keep(self, standing: Standing) -> None:
        """Keep how far learning is."""


@dataclass
class Whole:
    """Signals in memory, as one array; it is filled in place where entries are `missing`.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Signals, float64, C-contiguous.
    missing : ndarray of shape (n_samples, n_features), optional
        Which entries of `X` were not observed. They start as they are and follow the codes.
    n_jobs : int or None, default=-1
        Threads; the result does not depend on it.
    """

    X: Array
    missing: Mask | None = None
    n_jobs: int | None = -1

    def begin(self, kind: AtomKind, atoms: Array, radii: Array) -> None:
        """Make room for what is kept from one pass to the next."""
        check_magnitude(self.X)
        self._memory = kind.remember(self.X, atoms, radii)

    def statistics(self, kind: AtomKind, atoms: Array, radii: Array) -> Statistics:
        """Code all signals and sum up what moves the atoms."""
        # a kind that keeps nothing does not know of parts
        step = rows_of_a_part(len(self.X)) if self._memory is None else len(self.X)
        return Statistics.total(
            [
                kind.statistics(
                    self.X[i : i + step],
                    atoms,
                    radii,
                    self._memory,
                    missing=None if self.missing is None else self.missing[i : i + step],
                    n_jobs=self.n_jobs,
                )
                for i in range(0, len(self.X), step)
            ]
        )

    def states(self) -> list[State]:
        """Return what passes have left behind."""
        codes = self._memory.codes if isinstance(self._memory, Memory) else NO_CODES
        return [State(None if self.missing is None else self.X, codes if len(codes.z) else None)]

    def restore(self, states: Sequence[State]) -> None:
        """Go on from what other passes have left behind."""
        ((filled, codes),) = states
        if filled is not None:
            self.X = filled
        if codes is not None and isinstance(self._memory, Memory):
            self._memory.codes = codes


def learn(
    X: Array,
    atoms: Array,
    kind: AtomKind,
    schedule: FixedRadii | AdaptiveRadii,
    *,
    missing: Mask | None = None,
    n_jobs: int | None = -1,
    **how: Any,
) -> Learned:
    """Learn set-atoms from an array, see `Whole` and `learn_from`.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Signals; missing entries are filled in place.
    atoms : ndarray of shape (n_atoms, n_features)
        Unit vectors to start from.
    kind : AtomKind
        How atoms represent signals, and what keeps them apart.
    schedule : FixedRadii or AdaptiveRadii
        Which radii atoms have, and when that changes.
    missing : ndarray of bool, of the shape of X, optional
        Which entries were not observed.
    n_jobs : int or None, default=-1
        Threads; the result does not depend on it.
    **how
        The other arguments of `learn_from`: `n_iter`, `rng` and so on.
    """
    return learn_from(Whole(X, missing, n_jobs), atoms, kind, schedule, **how)


def learn_from(
    signals: Signals,
    atoms: Array,
    kind: AtomKind,
    schedule: FixedRadii | AdaptiveRadii,
    *,
    n_iter: int,
    rng: np.random.Generator,
    tol: float = 0.0,
    on_iteration: Callable[[int, float], None] | None = None,
    keeper: Keeper | None = None,
) -> Learned:
    """Learn set-atoms from signals.

    Parameters
    ----------
    signals : Signals
        What to learn from, such as `Whole`.
    atoms : ndarray of shape (n_atoms, n_features)
        Unit vectors to start from.
    kind : AtomKind
        How atoms represent signals, and what keeps them apart.
    schedule : FixedRadii or AdaptiveRadii
        Which radii atoms have, and when that changes.
    n_iter : int
        Iterations; with 0 the atoms stay where they are (cones are parted).
    rng : numpy.random.Generator
        Deals out fixed radii; parts coincident cones.
    tol : float, default=0.0
        Once no atom has moved by more than this, iterations are left out until radii adapt.
    on_iteration : callable, optional
        Called as ``on_iteration(k, mean_error)`` after each iteration; may raise to stop.
    keeper : Keeper, optional
        Keeps how far it is, and lets it go on from there.
    """
    radii = schedule.start(rng)
    atoms, _ = kind.separate(atoms, radii, rng)
    signals.begin(kind, atoms, radii)
    record = Recorder(len(atoms))
    still, users, done = False, None, 0
    if keeper is not None and (kept := keeper.resume()) is not None:
        done, atoms, radii, users, still, history, rng.bit_generator.state, states = kept
        record = Recorder.of(len(atoms), history)
        signals.restore(states)
    for k in range(done + 1, n_iter + 1):
        if still and not schedule.adapts_at(k):
            continue
        before = atoms
        statistics = signals.statistics(kind, atoms, radii)
        moved, users = kind.recentre(statistics, atoms), statistics.effective_users
        if schedule.adapts_at(k):
            usage = schedule.usage_of(statistics)
            radii = schedule.at(k, usage)
            atoms, overlaps = kind.separate(moved, radii, rng)
            record.adaptation(k, radii, usage)
        else:
            atoms, overlaps = kind.hold_back(moved, atoms, radii)
        record.iteration(statistics, overlaps)
        still = not schedule.adapts_at(k) and have_stopped(before, atoms, tol)
        if on_iteration is not None:
            on_iteration(k, record.errors[-1])
        if keeper is not None and keeper.is_due():
            random, history = rng.bit_generator.state, record.history()
            keeper.keep(Standing(k, atoms, radii, users, still, history, random, signals.states()))
    return Learned(FittedDictionary(kind, atoms, radii, record.history()), users)
