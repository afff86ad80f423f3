"""The public coders: from arrays as they come to `Codes`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from setatoms.coding.batch import as_codes, code
from setatoms.coding.codes import Codes
from setatoms.coding.cone.coder import ConeCoder
from setatoms.coding.gauss.coder import GaussCoder
from setatoms.coding.omp.coder import OmpCoder
from setatoms.coding.validation import (
    check_count,
    check_n_nonzero,
    check_positive,
    check_radii,
    check_signals_and_atoms,
)

Array = NDArray[Any]


def omp(
    X: ArrayLike,
    atoms: ArrayLike,
    *,
    n_nonzero: int,
    n_jobs: int | None = -1,
    actual_atoms: bool = False,
) -> Codes:
    """Represent each signal with at most ``n_nonzero`` atoms by orthogonal matching pursuit.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Signals, one per row.
    atoms : array-like of shape (n_atoms, n_features)
        Unit vectors, one per row.
    n_nonzero : int
        Atoms a signal may use.
    n_jobs : int or None, default=-1
        Threads; the result does not depend on it.
    actual_atoms : bool, default=False
        Return the atoms used by each signal as well (here copies of rows of ``atoms``).

    Returns
    -------
    Codes
        A signal that fewer atoms represent exactly uses fewer.

    Examples
    --------
    >>> import numpy as np, setatoms
    >>> codes = setatoms.omp([[3.0, 0.0, 4.0]], np.eye(3), n_nonzero=1)
    >>> codes.coefficients.toarray()
    array([[0., 0., 4.]])
    >>> codes.errors
    array([3.])
    """
    rows, units = check_signals_and_atoms(X, atoms)
    coder = OmpCoder(units, check_n_nonzero(n_nonzero, len(units)))
    return as_codes(coder, code(coder, rows, n_jobs=n_jobs, members=actual_atoms))


def cone_omp(
    X: ArrayLike,
    atoms: ArrayLike,
    radii: ArrayLike,
    *,
    n_nonzero: int = 2,
    cd_sweeps: int = 1,
    n_jobs: int | None = -1,
    actual_atoms: bool = False,
) -> Codes:
    """Represent each signal with at most ``n_nonzero`` cone atoms.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Signals, one per row.
    atoms : array-like of shape (n_atoms, n_features)
        Centres of the cones, unit vectors.
    radii : array-like of shape (n_atoms,)
        Chord distance from the centre to the rim of each cone, in [0, sqrt 2).
    n_nonzero : int, default=2
        Atoms a signal may use.
    cd_sweeps : int, default=1
        Rounds in which every actual atom is chosen again after a new one came in.
    n_jobs : int or None, default=-1
        Threads; the result does not depend on it.
    actual_atoms : bool, default=False
        Return the members of the cones that were used as well.

    Returns
    -------
    Codes
        A signal inside a cone uses that cone alone and has error 0.

    Examples
    --------
    >>> import numpy as np, setatoms
    >>> codes = setatoms.cone_omp([[3.0, 0.1, 0.0]], np.eye(3), [0.1, 0.1, 0.1], n_nonzero=1)
    >>> codes.support, codes.errors
    (array([[0]], dtype=int32), array([0.]))
    """
    rows, centres = check_signals_and_atoms(X, atoms)
    coder = ConeCoder(
        centres,
        check_radii(radii, len(centres), low=0.0, high=np.sqrt(2)),
        check_n_nonzero(n_nonzero, len(centres)),
        check_count("cd_sweeps", cd_sweeps, least=0),
    )
    return as_codes(coder, code(coder, rows, n_jobs=n_jobs, members=actual_atoms))


def gauss_l1(
    X: ArrayLike,
    atoms: ArrayLike,
    radii: ArrayLike,
    *,
    lam: float = 1.0,
    gamma: float = 1.0,
    max_sweeps: int = 10_000,
    tol: float = 1e-7,
    n_jobs: int | None = -1,
    actual_atoms: bool = False,
) -> Codes:
    """Represent each signal with Gaussian atoms, weighing fit against sparsity and likelihood.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Signals, one per row.
    atoms : array-like of shape (n_atoms, n_features)
        Centres of the Gaussians, unit vectors.
    radii : array-like of shape (n_atoms,)
        Standard deviations, positive.
    lam : float, default=1.0
        Weight of the squared error.
    gamma : float, default=1.0
        Weight of the coefficients' 1-norm.
    max_sweeps : int, default=10_000
        Sweeps after which a signal is left as it is. A sweep settles the atoms in use and then
        looks at all others.
    tol : float, default=1e-7
        A signal is done when a sweep lowers its objective by less than this share.
    n_jobs : int or None, default=-1
        Threads; the result does not depend on it.
    actual_atoms : bool, default=False
        Return the members of the Gaussians that were used as well.

    Returns
    -------
    Codes
        With ``objective`` and ``n_sweeps`` for each signal.

    Examples
    --------
    >>> import numpy as np, setatoms
    >>> codes = setatoms.gauss_l1([[3.0, 0.3, 0.0]], np.eye(3), [0.1, 0.1, 0.1])
    >>> codes.support
    array([[0]], dtype=int32)
    >>> codes.coefficients.toarray().round(2)
    array([[2.5, 0. , 0. ]])
    """
    rows, centres = check_signals_and_atoms(X, atoms)
    coder = GaussCoder(
        centres,
        check_radii(radii, len(centres), low=np.finfo(np.float64).tiny, high=np.inf),
        check_positive("lam", lam),
        check_positive("gamma", gamma),
        check_count("max_sweeps", max_sweeps),
        check_positive("tol", tol),
    )
    codes = as_codes(coder, code(coder, rows, n_jobs=n_jobs, members=actual_atoms))
    _warn_of_capped(coder, rows, codes, n_jobs)
    return codes


def _warn_of_capped(coder: GaussCoder, X: Array, codes: Codes, n_jobs: int | None) -> None:
    """Warn if signals were stopped by the number of sweeps."""
    max_sweeps = coder.budget.max_sweeps
    last = np.flatnonzero(codes.n_sweeps == max_sweeps)
    if not len(last):  # mostly so
        return
    # one that is done in its last sweep takes no other
    coder.budget = coder.budget._replace(max_sweeps=max_sweeps + 1)
    n_capped = int(np.sum(code(coder, X[last], n_jobs=n_jobs).n_sweeps > max_sweeps))
    if n_capped:
        warnings.warn(
            f"{n_capped} of {len(codes.errors)} signals were stopped at max_sweeps={max_sweeps}; "
            "raise max_sweeps or tol",
            ConvergenceWarning,
            stacklevel=3,
        )
