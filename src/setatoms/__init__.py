"""Anomaly detection by dictionary learning with set-atoms: cones and Gaussians that adapt."""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setatoms.coding import Codes, cone_omp, gauss_l1, omp
    from setatoms.estimators import (
        ConeAtomDetector,
        ConeDictionaryLearning,
        GaussianAtomDetector,
        GaussianDictionaryLearning,
        SetAtomDetector,
        SetAtomEnsemble,
        TableEncoder,
        VectorAtomDetector,
        choose_parameters,
        load,
    )
    from setatoms.learning import aksvd

__version__ = "0.2.0"

# Public name -> module that defines it. Nothing heavy is imported before it is used.
_HOMES = {
    "Codes": "setatoms.coding",
    "ConeAtomDetector": "setatoms.estimators",
    "ConeDictionaryLearning": "setatoms.estimators",
    "GaussianAtomDetector": "setatoms.estimators",
    "GaussianDictionaryLearning": "setatoms.estimators",
    "SetAtomDetector": "setatoms.estimators",
    "SetAtomEnsemble": "setatoms.estimators",
    "TableEncoder": "setatoms.estimators",
    "VectorAtomDetector": "setatoms.estimators",
    "aksvd": "setatoms.learning",
    "choose_parameters": "setatoms.estimators",
    "cone_omp": "setatoms.coding",
    "gauss_l1": "setatoms.coding",
    "load": "setatoms.estimators",
    "omp": "setatoms.coding",
}

__all__ = [
    "Codes",
    "ConeAtomDetector",
    "ConeDictionaryLearning",
    "GaussianAtomDetector",
    "GaussianDictionaryLearning",
    "SetAtomDetector",
    "SetAtomEnsemble",
    "TableEncoder",
    "VectorAtomDetector",
    "__version__",
    "aksvd",
    "choose_parameters",
    "cone_omp",
    "gauss_l1",
    "load",
    "omp",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _module(name: str) -> ModuleType:
    """Import a module, or return it; nothing of what imports make is garbage, so none is sought."""
    if name in sys.modules:
        return sys.modules[name]
    sought = gc.isenabled()
    gc.disable()
    try:
        return import_module(name)
    finally:
        if sought:
            gc.enable()


def __dir__() -> list[str]:
    return sorted(__all__)
