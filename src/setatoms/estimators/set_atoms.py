"""Set-atoms of any kind on the list, with the parameters that all kinds share."""

from __future__ import annotations

from numpy.random import RandomState
from numpy.typing import ArrayLike

from setatoms.estimators.detector import AtomDetector
from setatoms.estimators.recipes import SetAtomRecipe, set_atom_recipe
from setatoms.learning.kinds import AtomKind, find_kind
from setatoms.learning.radii import count_atoms
from setatoms.views import VIEWS


class SetAtomDetector(AtomDetector):
    r"""Detect anomalies by the representation error on set-atoms of a kind to be named.

    For Gaussians and cones there are detectors with all their parameters. This one is for the
    others: those that were added by `setatoms.learning.register`.

    Parameters
    ----------
    kind : str or AtomKind, default="gaussian"
        What the atoms are: the name of a kind, or a kind with parameters of its own.
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
        the radii adapt. With 0 all are done.
    init : {"aksvd", "random"} or array of shape (n_atoms, n_features), default="aksvd"
        The first centres: 50 iterations of AK-SVD with two non-zeros, random directions, or given
        (in standardised units).
    standardize : bool, default=True
        Bring features to mean 0 and standard deviation 1 first, as learned in `fit`.
    views : tuple of {"relation", "size", "rarity"}, default=all of them
        What makes a row abnormal, see `GaussianAtomDetector`.
    contamination : "auto" or float, default="auto"
        Where the threshold lies, see `GaussianAtomDetector`.
    missing : {"error", "fill"}, default="error"
        What NaN is: an error, or a missing value, which is filled with what the code of its row
        represents.
    n_jobs : int or None, default=-1
        Threads; -1 takes all cores, None one. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of everything random. The same seed gives the same model, bit for bit.
    verbose : bool or int, default=0
        Whether to show a progress bar on the terminal.

    Attributes
    ----------
    dictionary_ : FittedDictionary
        What was learned; its parts are `components_`, `radii_`, `history_` and `kind_`.
    components_ : ndarray of shape (n_atoms, n_features)
        The centres, in standardised units.
    radii_ : ndarray of shape (n_atoms,)
        The radius of each atom.
    offset_ : float
        The threshold on `score_samples`.

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

    def __init__(
        self,
        *,
        kind: str | AtomKind = "gaussian",
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
        missing: str = "error",
        n_jobs: int | None = -1,
        random_state: int | RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.kind = kind
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
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _recipe(self, n_samples: int, n_features: int) -> SetAtomRecipe:
        kind = self.kind if isinstance(self.kind, AtomKind) else find_kind(self.kind)()
        if not kind.has_radii:
            raise ValueError(f"kind={self.kind!r} has no radii; use its own detector")
        fitting = kind.resized(count_atoms(self.n_atoms, n_features), n_features)
        return set_atom_recipe(self, fitting, n_samples, n_features)
