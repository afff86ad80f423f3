"""Plain vectors as atoms: AK-SVD and orthogonal matching pursuit."""

from __future__ import annotations

from numpy.random import RandomState
from numpy.typing import ArrayLike

from setatoms.estimators.detector import AtomDetector
from setatoms.estimators.recipes import VectorRecipe
from setatoms.estimators.sizes import (
    cap_n_nonzero,
    check_n_nonzero,
    check_start,
    count_checked_atoms,
)
from setatoms.learning.kinds import VectorAtoms
from setatoms.views import VIEWS


class VectorAtomDetector(AtomDetector):
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
    standardize : bool, default=True
        Bring features to mean 0 and standard deviation 1 first, as learned in `fit`.
    views : tuple of {"relation", "size", "rarity"}, default=all of them
        What makes a row abnormal: relations between its values that no atoms represent, its
        size, and how alone it is among training rows. ``("relation",)`` is the paper's method:
        nothing but the representation error counts, also far outside the range learned, and all
        training rows have a say in learning.
    contamination : "auto" or float, default="auto"
        Where the threshold lies. A float is the share of *training* rows beyond it, in (0, 0.5].
        "auto" aims at 5 % of unseen normal rows, by scores of rows that took no part in the fit;
        `fit` takes up to twice as long.
    missing : {"error", "fill"}, default="error"
        What NaN is: an error, or a missing value, which is then a variable of the objective and
        filled with what the code of its row represents.
    n_jobs : int or None, default=-1
        Threads; -1 takes all cores, None one. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of everything random. The same seed gives the same model, bit for bit.
    verbose : bool or int, default=0
        Whether to show a progress bar on the terminal.

    Attributes
    ----------
    components_ : ndarray of shape (n_atoms, n_features)
        The atoms, unit vectors in standardised units.
    radii_ : ndarray of shape (n_atoms,)
        Zeros: a vector is a set-atom of radius 0.
    guard_ : Guard or None
        What the views compare with; None for ``views=("relation",)``.
    n_screened_ : int
        Training rows that looked abnormal and had no say in learning.
    offset_ : float
        The threshold on `score_samples`.
    training_offset_ : float
        The threshold for the training rows themselves, which score better than others.
    lowest_scores_ : ndarray of shape (n_lowest,)
        The lowest scores of training rows, increasing, up to 1,001 of them.
    calibration_scores_ : ndarray of shape (n_calibration,) or None
        What `p_values` compares with: increasing scores of rows outside the fit.
    history_ : History
        The error of each iteration; the other fields are empty.
    standardizer_ : Standardizer
        Mean and scale of each feature.
    kind_ : VectorAtoms
        How rows are coded.
    n_features_in_ : int
        Number of features seen in `fit`.
    n_samples_fit_ : int
        Number of rows seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if `X` had any.

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

    def __init__(
        self,
        *,
        n_atoms: float = 3.0,
        n_nonzero: int = 2,
        n_iter: int = 50,
        learn_tol: float = 0.0,
        init: str | ArrayLike = "random",
        standardize: bool = True,
        views: tuple[str, ...] = VIEWS,
        contamination: str | float = "auto",
        missing: str = "error",
        n_jobs: int | None = -1,
        random_state: int | RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_atoms = n_atoms
        self.n_nonzero = n_nonzero
        self.n_iter = n_iter
        self.learn_tol = learn_tol
        self.init = init
        self.standardize = standardize
        self.views = views
        self.contamination = contamination
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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
