"""Parameters that several estimators share, by groups."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import RandomState
from numpy.typing import ArrayLike

from setatoms.views import VIEWS


@dataclass(kw_only=True, eq=False, repr=False)
class CommonParameters:
    """What every estimator has.

    Parameters
    ----------
    half_life : float or None
        Rows after which a row of a stream counts half, for `partial_fit`; None forgets nothing.
        `fit` does not read it.
    missing : {"error", "fill"}
        What NaN is: an error, or a missing value, which is then a variable of the objective and
        filled with what the code of its row represents.
    n_jobs : int or None
        Threads; -1 takes all cores, None one. Results do not depend on it.
    random_state : int, RandomState or None
        Seed of everything random. The same seed gives the same model, bit for bit.
    verbose : bool or int
        Whether to show a progress bar on the terminal.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen in `fit`.
    n_samples_fit_ : int
        Number of rows seen in `fit`, copies by `sample_weight` included.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if `X` had any.
    stream_ : Stream
        What `partial_fit` keeps of the rows; there once it has started.
    drift_ : Drift
        How far the model has moved, and whether rows have changed, since the stream began or some
        time after an alarm.
    """

    half_life: float | None = None
    missing: str = "error"
    n_jobs: int | None = -1
    random_state: int | RandomState | None = None
    verbose: int = 0


@dataclass(kw_only=True, eq=False, repr=False)
class DetectorParameters(CommonParameters):
    """What every detector has.

    Parameters
    ----------
    standardize : bool
        Bring features to mean 0 and standard deviation 1 first, as learned in `fit`.
    views : tuple of {"relation", "size", "rarity"}
        What makes a row abnormal: relations between its values that no atoms represent, its
        size, and how alone it is among training rows. ``("relation",)`` is the paper's method:
        nothing but the representation error counts, also far outside the range learned, and all
        training rows have a say in learning.
    contamination : "auto" or float
        Where the threshold lies. A float is the share of *training* rows beyond it, in (0, 0.5].
        "auto" aims at 5 % of unseen normal rows, by scores of rows that took no part in the fit;
        `fit` takes up to twice as long.

    Attributes
    ----------
    guard_ : Guard or None
        What the views compare with; None for ``views=("relation",)``.
    n_screened_ : int
        Training rows that looked abnormal and had no say in learning.
    offset_ : float
        The threshold on `score_samples`.
    training_offset_ : float
        The threshold for the training rows themselves, which score better than others.
    lowest_scores_ : ndarray of shape (n_lowest,) or None
        The lowest scores of training rows, increasing, up to 1,001 of them; None beyond 20,000
        rows, of which as many at random tell units and thresholds.
    calibration_scores_ : ndarray of shape (n_calibration,) or None
        What `p_values` compares with: increasing scores of rows outside the fit.
    standardizer_ : Standardizer
        Mean and scale of each feature.
    """

    standardize: bool = True
    views: tuple[str, ...] = VIEWS
    contamination: str | float = "auto"


@dataclass(kw_only=True, eq=False, repr=False)
class SetAtomParameters:
    """How set-atoms are learned.

    Parameters
    ----------
    n_atoms : float or int
        Number of atoms: a float counts per feature, an int in total.
    radii : (float, float)
        The smallest and the largest radius, inside (0, sqrt 2).
    radii_distribution : {"linear", "50-50", "80-20"} or array of shape (n_atoms,)
        Radii between the two: evenly spaced, or that share at the smallest and the rest at the
        largest; or the radii themselves, in any order.
    adapt : {"l1", "l0"} or None
        What counts as use of an atom: the sum of its absolute coefficients or the number of rows.
        None assigns the radii at random, once.
    learn : bool
        False keeps the atoms as initialised, with radii assigned at random.
    n_iter : int
        Iterations of learning.
    adapt_every : int
        Iterations from one adaptation of the radii to the next.
    learn_tol : float
        When no atom has moved by more than this in an iteration, the others are left out until
        the radii adapt. With 0 all are done, as in the paper; 1e-3 is a fair value.
    init : {"aksvd", "random"} or array of shape (n_atoms, n_features)
        The first centres: 50 iterations of AK-SVD with two non-zeros, random directions, or given,
        in the units in which rows are coded.

    Attributes
    ----------
    dictionary_ : FittedDictionary
        What was learned; its parts are `components_`, `radii_`, `history_` and `kind_`.
    components_ : ndarray of shape (n_atoms, n_features)
        The centres; unit vectors, in standardised units if rows are standardised.
    radii_ : ndarray of shape (n_atoms,)
        The radius of each atom.
    history_ : History
        Error, objective, unused atoms and overlaps of each iteration; radii and usage at each
        adaptation.
    kind_ : AtomKind
        How rows are coded.
    """

    n_atoms: float = 3.0
    radii: tuple[float, float] = (0.04, 0.12)
    radii_distribution: str | ArrayLike = "linear"
    adapt: str | None = "l1"
    learn: bool = True
    n_iter: int = 100
    adapt_every: int = 10
    learn_tol: float = 0.0
    init: str | ArrayLike = "aksvd"


@dataclass(kw_only=True, eq=False, repr=False)
class TransformerParameters(CommonParameters):
    """What every transformer has.

    Parameters
    ----------
    sparse_output : bool
        Whether `transform` returns a sparse array.
    """

    sparse_output: bool = False
