"""A detector of one dictionary."""

from __future__ import annotations

from setatoms.decisions import PerFeature
from setatoms.estimators.detecting import ErrorDetector
from setatoms.estimators.recipes import Recipe
from setatoms.explain import Dictionary
from setatoms.learning.loop import Learned


class AtomDetector(ErrorDetector):
    """A detector whose score is how well the atoms of one dictionary represent a row."""

    def _keep(self, lesson: Recipe, learned: Learned) -> None:
        self.kind_ = lesson.kind
        self.components_ = learned.atoms
        self.radii_ = learned.radii
        self.history_ = learned.history

    def _dictionary(self) -> Dictionary:
        return self._dictionary_of(self.kind_, self.components_, self.radii_)

    def _dictionaries(self) -> tuple[Dictionary, ...]:
        return (self._dictionary(),)

    def _combination(self) -> PerFeature:
        return PerFeature(self.n_features_in_)
