"""Gaussian atoms: unit vectors near a centre, at a cost that grows with the distance."""

from __future__ import annotations

from typing import Any

from numpy.random import RandomState
from numpy.typing import ArrayLike

from setatoms.estimators.detector import AtomDetector
from setatoms.estimators.recipes import SetAtomRecipe, set_atom_recipe
from setatoms.estimators.transformer import AtomTransformer
from setatoms.learning.kinds import GaussianAtoms
from setatoms.views import VIEWS


class GaussianAtomDetector(AtomDetector):
    r"""Detect anomalies by the representation error on Gaussian atoms with adaptive radii.

    A row :math:`y` is coded by minimising over unit vectors :math:`a_j` and coefficients
    :math:`x_j`

    .. math::
        \sum_j \|a_j - d_j\|^2 / \rho_j^2 + \lambda \|y - \sum_j x_j a_j\|^2 + \gamma \|x\|_1

    around the learned centres :math:`d_j`. While learning, the radii :math:`\rho_j` move from
    their mean to the given distribution, and the atoms used most get the largest.

    Parameters
    ----------
    n_atoms : float or int, default=3.0
        Number of atoms: a float counts per feature, an int in total.
    radii : (float, float), default=(0.04, 0.12)
        The smallest and the largest radius, inside (0, sqrt 2).
    radii_distribution : {"linear", "50-50", "80-20"} or array of shape (n_atoms,), default="linear"
        Radii between the two: evenly spaced, or that share at the smallest and the rest at the
        largest; or the radii themselves, in any order.
    adapt : {"l1", "l0"} or None, default="l1"
        What counts as use of an atom: the sum of its absolute coefficients or the number of rows.
        None deals the radii out at random, once.
    learn : bool, default=True
        False keeps the atoms as initialised, with radii dealt out at random.
    n_iter : int, default=100
        Iterations of learning.
    adapt_every : int, default=10
        Iterations from one adaptation of the radii to the next.
    learn_tol : float, default=0.0
        When no atom has moved by more than this in an iteration, the others are left out until
        the radii adapt. With 0 all are done, as in the paper; 1e-3 is a fair value.
    init : {"aksvd", "random"} or array of shape (n_atoms, n_features), default="aksvd"
        The first centres: 50 iterations of AK-SVD with two non-zeros, random directions, or given
        (in standardised units).
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
    lam : float, default=1.0
        Weight of the squared error.
    gamma : float, default=1.0
        Weight of the 1-norm.
    max_sweeps, tol : int and float, default=10_000 and 1e-7
        Scoring stops at this many sweeps, or when a sweep lowers the objective by a smaller share.
    fit_max_sweeps, fit_tol : int and float, default=5 and 1e-2
        The same while learning, where rough codes do as well.
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
        The centres, unit vectors in standardised units.
    radii_ : ndarray of shape (n_atoms,)
        The radius of each atom.
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
        Error, objective, unused atoms of each iteration; radii and usage at each adaptation.
    standardizer_ : Standardizer
        Mean and scale of each feature.
    kind_ : GaussianAtoms
        How rows are coded.
    n_features_in_ : int
        Number of features seen in `fit`.
    n_samples_fit_ : int
        Number of rows seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if `X` had any.

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

    def __init__(
        self,
        *,
        n_atoms: float = 3.0,
        radii: tuple[float, float] = (0.04, 0.12),
        radii_distribution: str | ArrayLike = "linear",
        adapt: str | None = "l1",
        learn: bool = True,
        n_iter: int = 100,
        adapt_every: int = 10,
        learn_tol: float = 0.0,
        init: str | ArrayLike = "aksvd",
        standardize: bool = True,
        views: tuple[str, ...] = VIEWS,
        contamination: str | float = "auto",
        lam: float = 1.0,
        gamma: float = 1.0,
        max_sweeps: int = 10_000,
        tol: float = 1e-7,
        fit_max_sweeps: int = 5,
        fit_tol: float = 1e-2,
        missing: str = "error",
        n_jobs: int | None = -1,
        random_state: int | RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_atoms = n_atoms
        self.radii = radii
        self.radii_distribution = radii_distribution
        self.adapt = adapt
        self.learn = learn
        self.n_iter = n_iter
        self.adapt_every = adapt_every
        self.learn_tol = learn_tol
        self.init = init
        self.standardize = standardize
        self.views = views
        self.contamination = contamination
        self.lam = lam
        self.gamma = gamma
        self.max_sweeps = max_sweeps
        self.tol = tol
        self.fit_max_sweeps = fit_max_sweeps
        self.fit_tol = fit_tol
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _recipe(self, n_samples: int, n_features: int) -> SetAtomRecipe:
        return set_atom_recipe(self, _gaussian_atoms(self), n_samples, n_features)


class GaussianDictionaryLearning(AtomTransformer):
    r"""Learn Gaussian atoms with adaptive radii and write rows as codes.

    A row is coded as :class:`GaussianAtomDetector` describes. `X` is taken as it is: scale the
    features beforehand if their units differ.

    Parameters
    ----------
    n_atoms : float or int, default=3.0
        Number of atoms: a float counts per feature, an int in total.
    radii : (float, float), default=(0.04, 0.12)
        The smallest and the largest radius, inside (0, sqrt 2).
    radii_distribution : {"linear", "50-50", "80-20"} or array of shape (n_atoms,), default="linear"
        Radii between the two: evenly spaced, or that share at the smallest and the rest at the
        largest; or the radii themselves, in any order.
    adapt : {"l1", "l0"} or None, default="l1"
        What counts as use of an atom: the sum of its absolute coefficients or the number of rows.
        None deals the radii out at random, once.
    learn : bool, default=True
        False keeps the atoms as initialised, with radii dealt out at random.
    n_iter : int, default=100
        Iterations of learning.
    adapt_every : int, default=10
        Iterations from one adaptation of the radii to the next.
    learn_tol : float, default=0.0
        When no atom has moved by more than this in an iteration, the others are left out until
        the radii adapt. With 0 all are done, as in the paper; 1e-3 is a fair value.
    init : {"aksvd", "random"} or array of shape (n_atoms, n_features), default="aksvd"
        The first centres: 50 iterations of AK-SVD with two non-zeros, random directions, or given.
    lam, gamma : float, default=1.0
        Weights of the squared error and of the 1-norm.
    max_sweeps, tol : int and float, default=10_000 and 1e-7
        `transform` stops at this many sweeps, or when a sweep lowers the objective by a smaller
        share.
    fit_max_sweeps, fit_tol : int and float, default=5 and 1e-2
        The same while learning, where rough codes do as well.
    sparse_output : bool, default=False
        Whether `transform` returns a sparse array.
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
        The centres, unit vectors.
    radii_ : ndarray of shape (n_atoms,)
        The radius of each atom.
    history_ : History
        Error, objective, unused atoms of each iteration; radii and usage at each adaptation.
    kind_ : GaussianAtoms
        How rows are coded.
    n_features_in_ : int
        Number of features seen in `fit`.
    n_samples_fit_ : int
        Number of rows seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if `X` had any.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms import GaussianDictionaryLearning
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> model = GaussianDictionaryLearning(n_atoms=8, n_iter=20, random_state=0).fit(X)
    >>> model.transform(X).shape
    (200, 8)
    >>> bool(np.linalg.norm(X - model.reconstruct(X)) < np.linalg.norm(X))
    True
    """

    def __init__(
        self,
        *,
        n_atoms: float = 3.0,
        radii: tuple[float, float] = (0.04, 0.12),
        radii_distribution: str | ArrayLike = "linear",
        adapt: str | None = "l1",
        learn: bool = True,
        n_iter: int = 100,
        adapt_every: int = 10,
        learn_tol: float = 0.0,
        init: str | ArrayLike = "aksvd",
        lam: float = 1.0,
        gamma: float = 1.0,
        max_sweeps: int = 10_000,
        tol: float = 1e-7,
        fit_max_sweeps: int = 5,
        fit_tol: float = 1e-2,
        sparse_output: bool = False,
        missing: str = "error",
        n_jobs: int | None = -1,
        random_state: int | RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_atoms = n_atoms
        self.radii = radii
        self.radii_distribution = radii_distribution
        self.adapt = adapt
        self.learn = learn
        self.n_iter = n_iter
        self.adapt_every = adapt_every
        self.learn_tol = learn_tol
        self.init = init
        self.lam = lam
        self.gamma = gamma
        self.max_sweeps = max_sweeps
        self.tol = tol
        self.fit_max_sweeps = fit_max_sweeps
        self.fit_tol = fit_tol
        self.sparse_output = sparse_output
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _recipe(self, n_samples: int, n_features: int) -> SetAtomRecipe:
        return set_atom_recipe(self, _gaussian_atoms(self), n_samples, n_features)


def _gaussian_atoms(estimator: Any) -> GaussianAtoms:
    return GaussianAtoms(
        lam=estimator.lam,
        gamma=estimator.gamma,
        max_sweeps=estimator.max_sweeps,
        tol=estimator.tol,
        fit_max_sweeps=estimator.fit_max_sweeps,
        fit_tol=estimator.fit_tol,
    )
