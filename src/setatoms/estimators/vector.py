"""Plain vectors as atoms: AK-SVD and orthogonal matching pursuit."""

from __future__ import annotations

from numpy.typing import ArrayLike

from setatoms.estimators.detector import AtomDetector
from setatoms.estimators.documented import estimator
from setatoms.estimators.recipes import VectorRecipe
from setatoms.estimators.signatures import DetectorParameters
from setatoms.estimators.sizes import (
    cap_n_nonzero,
    check_n_nonzero,
    check_start,
    count_checked_atoms,
)
from setatoms.learning.kinds import VectorAtoms


@estimator
class VectorAtomDetector(DetectorParameters, AtomDetector):
    r"""Detect anomalies by the representation error on plain atoms (AK-SVD + OMP).

    The baseline without sets: a row :math:`y` is written with `n_nonzero` atoms,
    :math:`\min \|y - \sum_{j \in S} x_j d_j\|` with :math:`|S| \le s`, found greedily.

    Parameters
    ----------
    n_atoms : float or int, default=3.0
        Number of atoms: a float counts per feature, an int in total.
    n_nonzero : int, default=2
        Atoms that represent a row; at most one fewer than features.
    n_iter : int, default=50
        Iterations of AK-SVD.
    learn_tol : float, default=0.0
        Stop before `n_iter` when an iteration moves no atom by more than this; 0 never does.
    init : "random" or array of shape (n_atoms, n_features), default="random"
        The first atoms: random directions, or given (in standardised units).

    Attributes
    ----------
    components_ : ndarray of shape (n_atoms, n_features)
        The atoms, unit vectors in standardised units.
    radii_ : ndarray of shape (n_atoms,)
        Zeros: a vector is a set-atom of radius 0.
    history_ : History
        The error of each iteration; the other fields are empty.
    kind_ : VectorAtoms
        How rows are coded.

    See Also
    --------
    ConeAtomDetector : Sets around the vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms import VectorAtomDetector
    >>> rng = np.random.default_rng(0)
    >>> depth = rng.normal(size=(400, 1))
    >>> X = np.hstack([depth, depth, -depth]) + 0.1 * rng.normal(size=(400, 3))
    >>> detector = VectorAtomDetector(n_nonzero=1, n_atoms=3, random_state=0).fit(X)
    >>> detector.predict([[1.0, 1.0, -1.0], [1.0, -1.0, 1.0]])
    array([ 1, -1])
    """

    n_atoms: float = 3.0
    n_nonzero: int = 2
    n_iter: int = 50
    learn_tol: float = 0.0
    init: str | ArrayLike = "random"

    def _recipe(self, n_samples: int, n_features: int) -> VectorRecipe:
        n_nonzero = cap_n_nonzero(self.n_nonzero, n_features)
        n_atoms = count_checked_atoms(self.n_atoms, n_samples, n_features)
        return VectorRecipe(
            kind=VectorAtoms(check_n_nonzero(n_nonzero, self.n_atoms, n_features)),
            n_atoms=n_atoms,
            init=check_start(self.init, ("random",), n_atoms, n_features),
            n_iter=self.n_iter,
            n_jobs=self.n_jobs,
            tol=self.learn_tol,
        )
