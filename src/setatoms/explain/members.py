"""Which atoms represent a row, and how far they lean from their centres."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from setatoms.coding import Codes
from setatoms.explain.records import AtomRecord
from setatoms.learning.dictionary import FittedDictionary

Array = NDArray[np.float64]

# Chords are differences of unit vectors: exact to rounding, far from it to the eye.
_ON_BOUNDARY = 1 - 1e-6


def list_atoms(codes: Codes, dictionary: FittedDictionary) -> list[list[AtomRecord]]:
    """Return the atoms of each coded row, those with the largest coefficients first.

    The codes must hold the actual atoms.
    """
    has_boundary = dictionary.kind.has_boundary
    leans = dictionary.kind.leans(codes, dictionary.atoms, dictionary.radii)
    order = np.argsort(-np.abs(codes.values), axis=1, kind="stable")
    return [
        [
            AtomRecord(
                atom=int(codes.support[i, q]),
                coefficient=float(codes.values[i, q]),
                distance=float(leans[i, q]),
                on_boundary=bool(leans[i, q] >= _ON_BOUNDARY) if has_boundary else None,
            )
            for q in order[i]
            if codes.support[i, q] >= 0
        ]
        for i in range(len(codes.support))
    ]


def merge_atoms(lists: Sequence[list[list[AtomRecord]]]) -> list[list[AtomRecord]]:
    """Return for each row the atoms of all dictionaries, the largest coefficients first.

    `lists` has the atoms of each row for each dictionary, whose number is written to them.
    """
    for member, rows in enumerate(lists):
        for atom in chain.from_iterable(rows):
            atom["member"] = member
    joined = (list(chain.from_iterable(of_row)) for of_row in zip(*lists, strict=True))
    return [sorted(atoms, key=lambda atom: -abs(atom["coefficient"])) for atoms in joined]
