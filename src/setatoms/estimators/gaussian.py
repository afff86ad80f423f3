"""Gaussian atoms: unit vectors near a centre, at a cost that grows with the distance."""

from __future__ import annotations

from dataclasses import dataclass

from setatoms.estimators.detector import AtomDetector
from setatoms.estimators.documented import estimator
from setatoms.estimators.recipes import SetAtomRecipe, set_atom_recipe
from setatoms.estimators.signatures import (
    DetectorParameters,
    SetAtomParameters,
    TransformerParameters,
)
from setatoms.estimators.transformer import AtomTransformer
from setatoms.learning.kinds import GaussianAtoms


@dataclass(kw_only=True, eq=False, repr=False)
class GaussParameters(SetAtomParameters):
    """How Gaussian atoms are learned and coded.

    Parameters
    ----------
    lam : float
        Weight of the squared error.
    gamma : float
        Weight of the 1-norm; larger means fewer atoms per row.
    max_sweeps : int
        Scoring and `transform` stop at this many sweeps for a row.
    tol : float
        They also stop when a sweep lowers the objective by a smaller share.
    fit_max_sweeps : int
        The same as `max_sweeps` while learning, where rough codes do as well.
    fit_tol : float
        The same as `tol` while learning.
    """

    lam: float = 1.0
    gamma: float = 1.0
    max_sweeps: int = 10_000
    tol: float = 1e-7
    fit_max_sweeps: int = 5
    fit_tol: float = 1e-2

    def _recipe(self, n_samples: int, n_features: int) -> SetAtomRecipe:
        kind = GaussianAtoms(
            lam=self.lam,
            gamma=self.gamma,
            max_sweeps=self.max_sweeps,
            tol=self.tol,
            fit_max_sweeps=self.fit_max_sweeps,
            fit_tol=self.fit_tol,
        )
        return set_atom_recipe(self, kind, n_samples, n_features)


@estimator
class GaussianAtomDetector(GaussParameters, DetectorParameters, AtomDetector):
    r"""Detect anomalies by the representation error on Gaussian atoms with adaptive radii.

    A row :math:`y` is coded by minimising over unit vectors :math:`a_j` and coefficients
    :math:`x_j`

    .. math::
        \sum_j \|a_j - d_j\|^2 / \rho_j^2 + \lambda \|y - \sum_j x_j a_j\|^2 + \gamma \|x\|_1

    around the learned centres :math:`d_j`. While learning, the radii :math:`\rho_j` move from
    their mean to the given distribution, and the atoms used most get the largest.

    See Also
    --------
    ConeAtomDetector : Cones instead of Gaussians, faster.
    GaussianDictionaryLearning : The codes themselves.

    Examples
    --------
    Two features that always agree; no single value of the last row is unusual.

    >>> import numpy as np
    >>> from setatoms import GaussianAtomDetector
    >>> rng = np.random.default_rng(0)
    >>> depth = rng.normal(size=(400, 1))
    >>> X = np.hstack([depth, depth, -depth]) + 0.1 * rng.normal(size=(400, 3))
    >>> detector = GaussianAtomDetector(random_state=0).fit(X)
    >>> detector.predict([[1.0, 1.0, -1.0], [1.0, -1.0, 1.0]])
    array([ 1, -1])
    """


@estimator
class GaussianDictionaryLearning(GaussParameters, TransformerParameters, AtomTransformer):
    r"""Learn Gaussian atoms with adaptive radii and write rows as codes.

    A row is coded as :class:`GaussianAtomDetector` describes. `X` is taken as it is: scale the
    features beforehand if their units differ.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms import GaussianDictionaryLearning
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> model = GaussianDictionaryLearning(n_atoms=8, n_iter=20, random_state=0).fit(X)
    >>> model.transform(X).shape, model.radii_.shape
    ((200, 8), (8,))
    >>> bool(np.linalg.norm(X - model.reconstruct(X)) < np.linalg.norm(X))
    True
    """
