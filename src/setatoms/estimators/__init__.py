"""scikit-learn estimators: detectors and transformers with set-atoms."""

from setatoms.estimators.choosing import choose_parameters
from setatoms.estimators.cone import ConeAtomDetector, ConeDictionaryLearning
from setatoms.estimators.encoder import TableEncoder
from setatoms.estimators.ensemble import SetAtomEnsemble
from setatoms.estimators.gaussian import GaussianAtomDetector, GaussianDictionaryLearning
from setatoms.estimators.loading import load
from setatoms.estimators.set_atoms import SetAtomDetector
from setatoms.estimators.vector import VectorAtomDetector

__all__ = [
    "ConeAtomDetector",
    "ConeDictionaryLearning",
    "GaussianAtomDetector",
    "GaussianDictionaryLearning",
    "SetAtomDetector",
    "SetAtomEnsemble",
    "TableEncoder",
    "VectorAtomDetector",
    "choose_parameters",
    "load",
]
