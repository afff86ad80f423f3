"""One dictionary that follows a stream, in any estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setatoms.estimators.stream_state import Reference, Stream
from setatoms.estimators.streaming import LearnsFromStream
from setatoms.learning.dictionary import FittedDictionary
from setatoms.learning.radii import count_atoms
from setatoms.rows import as_whole
from setatoms.streams import count_past
from setatoms.streams.dictionary import learn_rows, reassign_radii, rescale_atoms

Array = NDArray[np.float64]

# Some more than the ten for each atom that fit warns below: it leaves abnormal ones out.
_FEWEST_ROWS, _ROWS_PER_ATOM = 256, 12


class DictionaryFromStream(LearnsFromStream):
    """An estimator whose one dictionary follows a stream."""

    dictionary_: FittedDictionary
    n_atoms: Any
    n_jobs: int | None

    def _rows_to_start(self, n_features: int) -> int:
        return max(_FEWEST_ROWS, _ROWS_PER_ATOM * count_atoms(self.n_atoms, n_features))

    def _move_atoms(self, stream: Stream, signals: Array, fade: float) -> Stream:
        """Move the atoms to where standardised rows (n, n_features) pull them."""
        if not getattr(self, "learn", True) or not len(signals):
            return stream
        whole = as_whole(np.ascontiguousarray(signals), np.asarray, self.n_jobs)
        self.dictionary_, sums = learn_rows(
            self.dictionary_,
            stream.sums,
            whole.X,
            whole.missing,
            past=count_past(stream.n_seen - len(signals), self.half_life),
            fade=fade,
            n_jobs=self.n_jobs,
        )
        reference = stream.reference
        if stream.sums is None:
            # nothing was known of the use of atoms before
            reference = replace(reference, used=(sums.abs_sum,))
        return replace(stream, sums=sums, reference=reference)

    def _reassign_radii(self, stream: Stream, rng: np.random.Generator) -> None:
        """Give the atoms used most the largest radii."""
        adapt = getattr(self, "adapt", None)
        if stream.sums is not None and adapt is not None:
            used = stream.sums.abs_sum if adapt == "l1" else stream.sums.n_users
            self.dictionary_ = reassign_radii(self.dictionary_, used, rng)

    def _rescale(self, stream: Stream, ratio: Array, rng: np.random.Generator) -> Stream:
        """Follow a change of the units of features by a `ratio` (n_features,)."""
        before = self.dictionary_.atoms
        self.dictionary_ = rescale_atoms(self.dictionary_, ratio, rng)
        if stream.sums is None:
            return stream
        return replace(stream, sums=stream.sums.rescaled(before, self.dictionary_.atoms, ratio))

    def _refresh_dictionaries(
        self, stream: Stream, ratio: Array | None, rng: np.random.Generator
    ) -> Stream:
        """Follow a change of units, and reassign radii."""
        if ratio is not None:
            stream = self._rescale(stream, ratio, rng)
        # the next rows pull atoms back that parted where they should not have
        self._reassign_radii(stream, rng)
        return stream

    def _used(self, stream: Stream | None) -> tuple[Array, ...]:
        if stream is None or stream.sums is None:
            return (np.ones(len(self.dictionary_.atoms)),)
        return (stream.sums.abs_sum,)

    def _with_reference(self, reference: Reference) -> None:
        super()._with_reference(reference)
        (self.dictionary_,) = reference.dictionaries
