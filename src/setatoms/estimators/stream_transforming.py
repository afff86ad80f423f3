"""Transformers that follow a stream: atoms and radii alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from setatoms.estimators.missing import measure
from setatoms.estimators.standardize import reject_overflow
from setatoms.estimators.stream_single import DictionaryFromStream
from setatoms.estimators.stream_state import Reference, Stream
from setatoms.rows import MemoryRows

Array = NDArray[np.float64]


class TransformerFromStream(DictionaryFromStream):
    """A transformer that can go on learning; its reference watches the representation error."""

    def _score_rows(self, table: Array) -> Array:
        return -measure(self.dictionary_, table, self.n_jobs)

    def _learn_block(self, stream: Stream, fade: float) -> Stream:
        rows, first = stream.rows, stream.n_seen - len(stream.rows)
        observed = rows[~np.isnan(rows).all(axis=1)]
        reject_overflow(MemoryRows(observed), self._names())
        reservoir = stream.reservoir.added(observed, first, self.half_life, stream.seed)
        return self._move_atoms(replace(stream, reservoir=reservoir), observed, fade)

    def _refresh(self, stream: Stream, rng: np.random.Generator) -> Stream:
        return self._refresh_dictionaries(stream, None, rng)

    def _refer(self, stream: Stream | None, n_seen: int, n_blocks: int) -> Reference:
        used = self._used(stream)
        return Reference(n_seen, n_blocks, (self.dictionary_,), used, None, None, None)
