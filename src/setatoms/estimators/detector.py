"""A detector of one dictionary."""

from __future__ import annotations

from setatoms.decisions import PerFeature
from setatoms.estimators.single import HasDictionary
from setatoms.estimators.stream_detecting import DetectorFromStream
from setatoms.estimators.stream_single import DictionaryFromStream
from setatoms.learning.loop import Learned


class AtomDetector(HasDictionary, DictionaryFromStream, DetectorFromStream):
    """A detector whose score is how well the atoms of one dictionary represent a row."""

    def _keep(self, learned: Learned) -> None:
        self.dictionary_ = learned.dictionary

    def _combination(self) -> PerFeature:
        return PerFeature(self.n_features_in_)
