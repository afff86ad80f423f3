"""Set-atoms of any kind on the list, with the parameters that all kinds share."""

from __future__ import annotations

from setatoms.estimators.detector import AtomDetector
from setatoms.estimators.documented import estimator
from setatoms.estimators.recipes import SetAtomRecipe, set_atom_recipe
from setatoms.estimators.signatures import DetectorParameters, SetAtomParameters
from setatoms.learning.kinds import AtomKind, find_kind
from setatoms.learning.radii import count_atoms


@estimator
class SetAtomDetector(SetAtomParameters, DetectorParameters, AtomDetector):
    r"""Detect anomalies by the representation error on set-atoms of a kind to be named.

    For Gaussians and cones there are detectors with all their parameters, and with defaults of
    their own. This one is for the others: those that were added by `setatoms.learning.register`.

    Parameters
    ----------
    kind : str or AtomKind, default="gaussian"
        What the atoms are: the name of a kind, or a kind with parameters of its own.

    See Also
    --------
    GaussianAtomDetector : Gaussians, with all their parameters.
    ConeAtomDetector : Cones, with all their parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms import SetAtomDetector
    >>> rng = np.random.default_rng(0)
    >>> depth = rng.normal(size=(400, 1))
    >>> X = np.hstack([depth, depth, -depth]) + 0.1 * rng.normal(size=(400, 3))
    >>> detector = SetAtomDetector(kind="cone", random_state=0).fit(X)
    >>> detector.predict([[1.0, 1.0, -1.0], [1.0, -1.0, 1.0]])
    array([ 1, -1])
    """

    kind: str | AtomKind = "gaussian"

    def _recipe(self, n_samples: int, n_features: int) -> SetAtomRecipe:
        kind = self.kind if isinstance(self.kind, AtomKind) else find_kind(self.kind)()
        if not kind.has_radii:
            raise ValueError(f"kind={self.kind!r} has no radii; use its own detector")
        fitting = kind.resized(count_atoms(self.n_atoms, n_features), n_features)
        return set_atom_recipe(self, fitting, n_samples, n_features)
