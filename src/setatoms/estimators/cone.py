"""Cones: all unit vectors within a radius of a centre."""

from __future__ import annotations

from typing import Any

from numpy.random import RandomState
from numpy.typing import ArrayLike

from setatoms.estimators.detector import AtomDetector
from setatoms.estimators.recipes import SetAtomRecipe, set_atom_recipe
from setatoms.estimators.sizes import cap_n_nonzero, check_n_nonzero
from setatoms.estimators.transformer import AtomTransformer
from setatoms.learning.kinds import ConeAtoms
from setatoms.views import VIEWS


class ConeAtomDetector(AtomDetector):
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
    n_atoms : float or int, default=4.0
        Number of atoms: a float counts per feature, an int in total.
    radii : (float, float), default=(0.04, 0.12)
        The smallest and the largest radius, inside (0, sqrt 2).
    radii_distribution : {"linear", "50-50", "80-20"} or array of shape (n_atoms,), default="80-20"
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
    n_nonzero : int, default=2
        Atoms that represent a row; at most one fewer than features.
    cd_sweeps : int, default=1
        Rounds in which each actual atom is chosen again, given the others.
    min_separation : float, default=0.01
        Chord distance kept between the edges of two cones.
    rotation : {"symmetric", "by-radius"}, default="symmetric"
        How two cones part that overlap: by the same angle each, or the wider one by less.
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
        Error, objective, unused atoms and overlaps resolved of each iteration; radii and usage at
        each adaptation.
    standardizer_ : Standardizer
        Mean and scale of each feature.
    kind_ : ConeAtoms
        How rows are coded.
    n_features_in_ : int
        Number of features seen in `fit`.
    n_samples_fit_ : int
        Number of rows seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if `X` had any.

    See Also
    --------
    GaussianAtomDetector : Gaussians instead of cones.
    ConeDictionaryLearning : The codes themselves.

    Examples
    --------
    Two features that always agree; no single value of the last row is unusual.

    >>> import numpy as np
    >>> from setatoms import ConeAtomDetector
    >>> rng = np.random.default_rng(0)
    >>> depth = rng.normal(size=(400, 1))
    >>> X = np.hstack([depth, depth, -depth]) + 0.1 * rng.normal(size=(400, 3))
    >>> detector = ConeAtomDetector(random_state=0).fit(X)
    >>> detector.predict([[1.0, 1.0, -1.0], [1.0, -1.0, 1.0]])
    array([ 1, -1])
    """

    def __init__(
        self,
        *,
        n_atoms: float = 4.0,
        radii: tuple[float, float] = (0.04, 0.12),
        radii_distribution: str | ArrayLike = "80-20",
        adapt: str | None = "l1",
        learn: bool = True,
        n_iter: int = 100,
        adapt_every: int = 10,
        learn_tol: float = 0.0,
        init: str | ArrayLike = "aksvd",
        standardize: bool = True,
        views: tuple[str, ...] = VIEWS,
        contamination: str | float = "auto",
        n_nonzero: int = 2,
        cd_sweeps: int = 1,
        min_separation: float = 0.01,
        rotation: str = "symmetric",
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
        self.n_nonzero = n_nonzero
        self.cd_sweeps = cd_sweeps
        self.min_separation = min_separation
        self.rotation = rotation
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _recipe(self, n_samples: int, n_features: int) -> SetAtomRecipe:
        kind = _cones(self, cap_n_nonzero(self.n_nonzero, n_features), n_features)
        return set_atom_recipe(self, kind, n_samples, n_features)


class ConeDictionaryLearning(AtomTransformer):
    """Learn cones with adaptive radii and write rows as codes.

    A row is coded as :class:`ConeAtomDetector` describes. `X` is taken as it is: scale the
    features beforehand if their units differ.

    Parameters
    ----------
    n_atoms : float or int, default=4.0
        Number of atoms: a float counts per feature, an int in total.
    radii : (float, float), default=(0.04, 0.12)
        The smallest and the largest radius, inside (0, sqrt 2).
    radii_distribution : {"linear", "50-50", "80-20"} or array of shape (n_atoms,), default="80-20"
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
    n_nonzero : int, default=2
        Atoms that represent a row.
    cd_sweeps : int, default=1
        Rounds in which each actual atom is chosen again, given the others.
    min_separation : float, default=0.01
        Chord distance kept between the edges of two cones.
    rotation : {"symmetric", "by-radius"}, default="symmetric"
        How two cones part that overlap: by the same angle each, or the wider one by less.
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
        Error, objective, unused atoms and overlaps resolved of each iteration; radii and usage at
        each adaptation.
    kind_ : ConeAtoms
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
    >>> from setatoms import ConeDictionaryLearning
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> model = ConeDictionaryLearning(n_atoms=8, n_iter=20, random_state=0).fit(X)
    >>> model.transform(X).shape
    (200, 8)
    >>> bool(np.linalg.norm(X - model.reconstruct(X)) < np.linalg.norm(X))
    True
    """

    def __init__(
        self,
        *,
        n_atoms: float = 4.0,
        radii: tuple[float, float] = (0.04, 0.12),
        radii_distribution: str | ArrayLike = "80-20",
        adapt: str | None = "l1",
        learn: bool = True,
        n_iter: int = 100,
        adapt_every: int = 10,
        learn_tol: float = 0.0,
        init: str | ArrayLike = "aksvd",
        n_nonzero: int = 2,
        cd_sweeps: int = 1,
        min_separation: float = 0.01,
        rotation: str = "symmetric",
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
        self.n_nonzero = n_nonzero
        self.cd_sweeps = cd_sweeps
        self.min_separation = min_separation
        self.rotation = rotation
        self.sparse_output = sparse_output
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _recipe(self, n_samples: int, n_features: int) -> SetAtomRecipe:
        kind = _cones(self, self.n_nonzero, n_features)
        return set_atom_recipe(self, kind, n_samples, n_features)


def _cones(estimator: Any, n_nonzero: int, n_features: int) -> ConeAtoms:
    return ConeAtoms(
        n_nonzero=check_n_nonzero(n_nonzero, estimator.n_atoms, n_features),
        cd_sweeps=estimator.cd_sweeps,
        min_separation=estimator.min_separation,
        rotation=estimator.rotation,
    )
