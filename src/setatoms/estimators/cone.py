"""Cones: all unit vectors within a radius of a centre."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from setatoms.estimators.detector import AtomDetector
from setatoms.estimators.documented import estimator
from setatoms.estimators.recipes import SetAtomRecipe, set_atom_recipe
from setatoms.estimators.signatures import (
    DetectorParameters,
    SetAtomParameters,
    TransformerParameters,
)
from setatoms.estimators.sizes import cap_n_nonzero, check_n_nonzero
from setatoms.estimators.transformer import AtomTransformer
from setatoms.learning.kinds import ConeAtoms


@dataclass(kw_only=True, eq=False, repr=False)
class ConeParameters(SetAtomParameters):
    """How cones are learned and coded.

    Parameters
    ----------
    n_nonzero : int
        Atoms that represent a row.
    cd_sweeps : int
        Rounds in which each actual atom is chosen again, given the others.
    min_separation : float
        Chord distance kept between the edges of two cones.
    rotation : {"symmetric", "by-radius"}
        How two cones part that overlap: by the same angle each, or the wider one by less.
    """

    n_atoms: float = 4.0
    radii_distribution: str | ArrayLike = "80-20"
    n_nonzero: int = 2
    cd_sweeps: int = 1
    min_separation: float = 0.01
    rotation: str = "symmetric"

    def _cones(self, n_nonzero: int, n_features: int) -> ConeAtoms:
        return ConeAtoms(
            n_nonzero=check_n_nonzero(n_nonzero, self.n_atoms, n_features),
            cd_sweeps=self.cd_sweeps,
            min_separation=self.min_separation,
            rotation=self.rotation,
        )


@estimator
class ConeAtomDetector(ConeParameters, DetectorParameters, AtomDetector):
    r"""Detect anomalies by the representation error on cones with adaptive radii.

    A row :math:`y` is written with `n_nonzero` actual atoms :math:`a_j`, each any unit vector of
    its cone,

    .. math::
        \min \|y - \sum_{j \in S} x_j a_j\|, \quad \|a_j - d_j\| \le \rho_j, \ |S| \le s

    found greedily around the learned centres :math:`d_j`. While learning, the radii
    :math:`\rho_j` move from their mean to the given distribution, the atoms used most get the
    largest, and cones are kept apart.

    Parameters
    ----------
    n_nonzero : int, default=2
        Atoms that represent a row; at most one fewer than features.

    See Also
    --------
    GaussianAtomDetector : Gaussians instead of cones.
    ConeDictionaryLearning : The codes themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms import ConeAtomDetector
    >>> X = np.random.default_rng(0).normal(size=(400, 1)) @ [[1.0, 2.0, -1.0]]
    >>> detector = ConeAtomDetector(n_nonzero=1, n_atoms=2, random_state=0).fit(X)
    >>> detector.predict([[1.0, 2.0, -1.0], [1.0, -2.0, -1.0]])
    array([ 1, -1])
    """

    def _recipe(self, n_samples: int, n_features: int) -> SetAtomRecipe:
        kind = self._cones(cap_n_nonzero(self.n_nonzero, n_features), n_features)
        return set_atom_recipe(self, kind, n_samples, n_features)


@estimator
class ConeDictionaryLearning(ConeParameters, TransformerParameters, AtomTransformer):
    """Learn cones with adaptive radii and write rows as codes.

    A row is coded as :class:`ConeAtomDetector` describes. `X` is taken as it is: scale the
    features beforehand if their units differ.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms import ConeDictionaryLearning
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> model = ConeDictionaryLearning(n_atoms=8, n_iter=20, random_state=0).fit(X)
    >>> model.transform(X).shape
    (200, 8)
    >>> bool(np.linalg.norm(X - model.reconstruct(X)) < np.linalg.norm(X))
    True
    """

    def _recipe(self, n_samples: int, n_features: int) -> SetAtomRecipe:
        kind = self._cones(self.n_nonzero, n_features)
        return set_atom_recipe(self, kind, n_samples, n_features)
