"""The three coders as definitions: plain NumPy, one signal at a time, written to be read.

The compiled coders of this package are tested against these. Nothing here is fast, nothing is
validated, everything is float64. A signal is divided by its largest entry before it is coded and
its code is multiplied by it afterwards, so that no square overflows or vanishes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setatoms.coding.codes import Codes

Array = NDArray[np.float64]

# What is smaller than this, relative to the signal, is the rounding of a zero.
NEGLIGIBLE = 1e-12
# Weights of a scaled signal are held within these: no square overflows and nothing is divided by
# zero, and their effect has saturated long before.
TINY, EXTREME = 1e-300, 1e60


class Code(NamedTuple):
    """The code of one signal: ``y = values @ actual + residual``; chords are ``||a_j - d_j||``."""

    support: Sequence[int]
    values: Array
    actual: Array
    residual: Array
    chords: Array = np.zeros(0)
    n_sweeps: int = 0

    def times(self, scale: float) -> Code:
        """Return the code of ``scale * y``."""
        return self._replace(values=scale * self.values, residual=scale * self.residual)


def omp(X: ArrayLike, atoms: ArrayLike, *, n_nonzero: int, actual_atoms: bool = False) -> Codes:
    """Code every row by orthogonal matching pursuit, as :func:`setatoms.omp` does."""
    X, atoms = np.asarray(X, float), np.asarray(atoms, float)
    codes = [_omp_one(y / s, atoms, n_nonzero).times(s) for y, s in zip(X, _scales(X), strict=True)]
    return _gather(codes, n_atoms=len(atoms), width=n_nonzero, actual_atoms=actual_atoms)


def _omp_one(y: Array, atoms: Array, n_nonzero: int) -> Code:
    support: list[int] = []
    values, residual = np.zeros(0), y
    while len(support) < n_nonzero:
        correlations = np.abs(atoms @ residual)
        correlations[support] = -1.0
        best = int(correlations.argmax())
        if correlations[best] <= NEGLIGIBLE * np.linalg.norm(y):
            break
        support.append(best)
        values = _least_squares(y, atoms[support])
        residual = y - values @ atoms[support]
    return Code(support, values, atoms[support], residual)


def cone_omp(
    X: ArrayLike,
    atoms: ArrayLike,
    radii: ArrayLike,
    *,
    n_nonzero: int = 2,
    cd_sweeps: int = 1,
    actual_atoms: bool = False,
) -> Codes:
    """Code every row by matching pursuit over cones, as :func:`setatoms.cone_omp` does."""
    X, atoms, radii = np.asarray(X, float), np.asarray(atoms, float), np.asarray(radii, float)
    codes = [
        _cone_omp_one(y / s, atoms, radii, n_nonzero, cd_sweeps).times(s)
        for y, s in zip(X, _scales(X), strict=True)
    ]
    return _gather(codes, n_atoms=len(atoms), width=n_nonzero, actual_atoms=actual_atoms)


def _cone_omp_one(y: Array, atoms: Array, radii: Array, n_nonzero: int, cd_sweeps: int) -> Code:
    support: list[int] = []
    values, actual, residual = np.zeros(0), np.zeros((0, len(y))), y
    while len(support) < n_nonzero and not _is_negligible(residual, y):
        best = _nearest_cone(residual, atoms, radii, support)
        member = _nearest_member(residual, atoms[best], radii[best])
        support.append(best)
        actual = np.vstack([actual, member])
        values = np.append(values, member @ residual)
        residual = residual - values[-1] * member
        if len(support) == 1 or _is_negligible(residual, y):
            continue
        values = _least_squares(y, actual)
        values, actual = _descend(y, values, actual, atoms[support], radii[support], cd_sweeps)
        residual = y - values @ actual
    return Code(support, values, actual, residual)


def _nearest_cone(residual: Array, atoms: Array, radii: Array, used: list[int]) -> int:
    """Return the unused cone at the smallest angle from +-residual, the lowest index of equals."""
    cosine, sine = _half_angle(radii)
    p = np.minimum(np.abs(atoms @ residual) / np.linalg.norm(residual), 1.0)
    closeness = cosine * p + sine * np.sqrt(1 - p**2)
    # a cone that contains the residual beats any that does not; among several, the most central
    closeness = np.where(p >= cosine, 1 + p, closeness)
    closeness[used] = -1.0
    return int(closeness.argmax())


def _nearest_member(residual: Array, atom: Array, radius: float) -> Array:
    """Return the member of the cone closest to +-residual."""
    cosine, sine = _half_angle(radius)
    direction = residual / np.linalg.norm(residual)
    if atom @ direction < 0:
        direction = -direction
    p = atom @ direction
    across = direction - p * atom
    if p >= cosine or not across.any():
        return direction
    member: Array = cosine * atom + sine * across / np.linalg.norm(across)
    return member


def _half_angle(radius: ArrayLike) -> tuple[Array, Array]:
    """Return the cosine and the sine of the half-angle of a cone of that chord radius."""
    radius = np.asarray(radius)
    return 1 - radius**2 / 2, radius * np.sqrt(1 - radius**2 / 4)


def _descend(
    y: Array, values: Array, actual: Array, centres: Array, radii: Array, n_sweeps: int
) -> tuple[Array, Array]:
    """Re-choose each actual atom and its coefficient in turn, the others held."""
    values, actual = values.copy(), actual.copy()
    for k in list(range(len(values))) * n_sweeps:
        values[k] = 0.0
        target = y - values @ actual
        if _is_negligible(target, y):
            break
        actual[k] = _nearest_member(target, centres[k], radii[k])
        values[k] = actual[k] @ target
        if _is_negligible(y - values @ actual, y):
            break
    return values, actual


def gauss_l1(
    X: ArrayLike,
    atoms: ArrayLike,
    radii: ArrayLike,
    *,
    lam: float = 1.0,
    gamma: float = 1.0,
    max_sweeps: int = 10_000,
    tol: float = 1e-7,
    actual_atoms: bool = False,
) -> Codes:
    """Code every row with Gaussian atoms, as :func:`setatoms.gauss_l1` does.

    Minimise over unit ``a_j`` and over ``x``, by cyclic block coordinate descent from ``x = 0``::

        sum_j ||a_j - d_j||^2 / radii_j^2  +  lam ||y - sum_j x_j a_j||^2  +  gamma ||x||_1
    """
    X, atoms, radii = np.asarray(X, float), np.asarray(atoms, float), np.asarray(radii, float)
    codes = []
    for y, s in zip(X, _scales(X), strict=True):
        weights = _scaled_weights(s, radii, lam, gamma)
        codes.append(_gauss_l1_one(y / s, atoms, *weights, max_sweeps, tol).times(s))
    width = max((len(code.support) for code in codes), default=0)
    gathered = _gather(codes, n_atoms=len(atoms), width=width, actual_atoms=actual_atoms)
    with np.errstate(over="ignore"):
        objective = [_objective(code, radii, lam, gamma) for code in codes]
    n_sweeps = np.array([code.n_sweeps for code in codes], dtype=np.int32)
    return replace(gathered, objective=np.array(objective), n_sweeps=n_sweeps)


def _scaled_weights(scale: float, radii: Array, lam: float, gamma: float) -> tuple[Array, float]:
    """Return the radii and gamma that, with ``lam = 1``, pose the same problem for ``y / scale``.

    The objective of ``y / scale`` is then that of ``y`` divided by ``lam * scale^2``.
    """
    with np.errstate(over="ignore"):
        scaled_radii = np.clip(np.sqrt(lam) * scale * radii, TINY, EXTREME)
        scaled_gamma = np.minimum(gamma / lam / scale, EXTREME)
    return scaled_radii, float(scaled_gamma)


def _gauss_l1_one(
    y: Array, atoms: Array, radii: Array, gamma: float, max_sweeps: int, tol: float
) -> Code:
    """Code one signal with ``lam = 1``.

    ``lean_j = a_j - d_j`` is kept instead of ``a_j``, which would lose the digits of a small lean.
    """
    x, lean = np.zeros(len(atoms)), np.zeros_like(atoms)
    code = _code_from(y, x, atoms, lean, n_sweeps=0)
    objective, converged = _objective(code, radii, 1.0, gamma), False
    while not converged and code.n_sweeps < max_sweeps:
        residual = code.residual
        for j, d in enumerate(atoms):
            target = residual + x[j] * (d + lean[j])
            x[j], lean[j] = _alternate(target, d, lean[j], radii[j], gamma)
            residual = target - x[j] * (d + lean[j])
        code = _code_from(y, x, atoms, lean, n_sweeps=code.n_sweeps + 1)
        previous, objective = objective, _objective(code, radii, 1.0, gamma)
        converged = previous - objective <= tol * previous
    return code


def _alternate(
    target: Array, d: Array, lean: Array, radius: float, gamma: float
) -> tuple[float, Array]:
    """Improve the coefficient, then the actual atom, then the coefficient, the rest held."""
    x = _soft(float((d + lean) @ target), gamma / 2)
    if x != 0:
        lean = _lean(d, radius**2 * x * target)
        x = _soft(float((d + lean) @ target), gamma / 2)
    # an atom out of use does not lean: it would pay for nothing
    return (x, lean) if x != 0 else (0.0, np.zeros_like(d))


def _soft(value: float, threshold: float) -> float:
    return float(np.sign(value) * max(abs(value) - threshold, 0.0))


def _lean(d: Array, pull: Array) -> Array:
    """Return ``unit(d + pull) - d`` without the cancellation of that formula."""
    norm = np.linalg.norm(d + pull)
    shortened: Array = d * (2 * (d @ pull) + pull @ pull) / (1 + norm)
    return (pull - shortened) / norm


def _code_from(y: Array, x: Array, atoms: Array, lean: Array, n_sweeps: int) -> Code:
    support = np.flatnonzero(x)
    actual = atoms[support] + lean[support]
    chords = np.linalg.norm(lean[support], axis=1)
    residual = y - x[support] @ actual
    return Code(support.tolist(), x[support], actual, residual, chords, n_sweeps)


def _objective(code: Code, radii: Array, lam: float, gamma: float) -> float:
    price = ((code.chords / radii[code.support]) ** 2).sum()
    return float(price + lam * (code.residual**2).sum() + gamma * np.abs(code.values).sum())


def _scales(X: Array) -> Array:
    """Return the largest entry of each row, 1 for a row of zeros."""
    largest: Array = np.abs(X).max(axis=1)
    return np.where(largest > 0, largest, 1.0)


def _is_negligible(residual: Array, y: Array) -> bool:
    return bool(np.linalg.norm(residual) <= NEGLIGIBLE * np.linalg.norm(y))


def _least_squares(y: Array, rows: Array) -> Array:
    return np.asarray(np.linalg.lstsq(rows.T, y, rcond=None)[0], float)


def _gather(codes: list[Code], *, n_atoms: int, width: int, actual_atoms: bool) -> Codes:
    """Put the codes of all signals into padded arrays."""
    n_features = len(codes[0].residual)
    support = np.full((len(codes), width), -1, np.int32)
    values = np.zeros((len(codes), width))
    actual = np.zeros((len(codes), width, n_features))
    for row, code in enumerate(codes):
        used = slice(len(code.support))
        support[row, used], values[row, used], actual[row, used] = code[:3]
    residuals = np.array([code.residual for code in codes])
    scales = _scales(residuals)
    return Codes(
        support=support,
        values=values,
        residuals=residuals,
        errors=np.linalg.norm(residuals / scales[:, None], axis=1) * scales,
        n_atoms=n_atoms,
        actual_atoms=actual if actual_atoms else None,
    )
