"""An ensemble that follows a stream: its oldest members are learned anew, in turn."""

from __future__ import annotations

import math
import warnings
from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from setatoms.decisions import Combination
from setatoms.estimators.members import FEWEST_ROWS_PER_ATOM, EnsembleRecipe, ensemble_recipe
from setatoms.estimators.stream_detecting import DetectorFromStream
from setatoms.estimators.stream_state import BLOCK_ROWS, Reference, Stream
from setatoms.estimators.streaming import REFRESH_BLOCKS
from setatoms.learning.dictionary import FittedDictionary
from setatoms.rows import MemoryRows, ignore
from setatoms.streams.dictionary import rescale_atoms

Array = NDArray[np.float64]

_FEWEST_ROWS = 256
# All members have been renewed after so many half-lives.
_HALF_LIVES = 2


class MembersFromStream(DetectorFromStream):
    """An ensemble whose members are renewed from a sample of a stream."""

    members_: tuple[FittedDictionary, ...]
    combination_: Combination

    # what members learn from: 25 rows for each of 320 atoms
    _reservoir_rows = 8_000

    def _rows_to_start(self, n_features: int) -> int:
        return max(_FEWEST_ROWS, FEWEST_ROWS_PER_ATOM * n_features)

    def _rows_ahead(self, stream: Stream) -> int:
        # members stand still between renewals
        blocks = REFRESH_BLOCKS - stream.n_blocks % REFRESH_BLOCKS
        return blocks * BLOCK_ROWS - len(stream.rows)

    def _move_atoms(self, stream: Stream, signals: Array, fade: float) -> Stream:
        return stream

    def _refresh_dictionaries(
        self, stream: Stream, ratio: Array | None, rng: np.random.Generator
    ) -> Stream:
        """Follow a change of units, and learn the oldest members anew."""
        members = list(self.members_)
        if ratio is not None:
            members = [rescale_atoms(member, ratio, rng) for member in members]
        rows = stream.reservoir.rows
        if len(rows) >= self._rows_to_start(rows.shape[1]):
            oldest = self._oldest(stream.n_blocks)
            recipe = self._recipe_of(rows, oldest)
            learned = recipe.learn(MemoryRows(rows), self.standardizer_.apply, rng, ignore)
            for i, member in zip(oldest, learned, strict=True):
                members[i] = member
        self.members_ = tuple(members)
        return stream

    def _oldest(self, n_blocks: int) -> list[int]:
        """Return which members are learned anew at this refresh."""
        n_members, n_turns = len(self.members_), n_blocks // REFRESH_BLOCKS
        n_taken = 1
        if self.half_life is not None:
            rows = REFRESH_BLOCKS * BLOCK_ROWS
            n_taken = math.ceil(n_members * rows / (_HALF_LIVES * self.half_life))
        n_taken = min(max(n_taken, 1), n_members)
        return [i % n_members for i in range((n_turns - 1) * n_taken, n_turns * n_taken)]

    def _recipe_of(self, rows: Array, chosen: list[int]) -> EnsembleRecipe:
        """Return how to learn the `chosen` members from rows (n, n_features)."""
        with warnings.catch_warnings():
            # said when the ensemble was fitted
            warnings.simplefilter("ignore", UserWarning)
            as_many = copy(self)
            as_many.n_members = len(self.members_)  # until `fit`, whatever parameters say by now
            recipe = ensemble_recipe(as_many, *rows.shape)
        return replace(recipe, recipes=tuple(recipe.recipes[i] for i in chosen))

    def _used(self, stream: Stream | None) -> tuple[Array, ...]:
        return tuple(
            each.history.usage[-1] if len(each.history.usage) else np.ones(len(each.atoms))
            for each in self.members_
        )

    def _with_reference(self, reference: Reference) -> None:
        super()._with_reference(reference)
        self.members_ = reference.dictionaries
        if reference.combination is not None:
            self.combination_ = reference.combination
