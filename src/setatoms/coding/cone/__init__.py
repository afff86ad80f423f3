"""Cone-OMP: orthogonal matching pursuit with cones instead of vectors.

A cone atom is the set of unit vectors within chord distance ``rho`` of its centre ``d``; ``c = 1 -
rho^2/2`` is the cosine of its half-angle. For a residual ``r`` at cosine ``p = |<d, r>|/||r||``
from the centre,

- a cone with ``p >= c`` contains ``+-r`` and represents it exactly,
- otherwise its closest member is ``d`` rotated towards ``+-r`` by the half-angle, at cosine
  ``c p + sqrt((1 - c^2)(1 - p^2))`` from it.

Each step takes the cone closest to the residual, fits all coefficients by least squares on the
actual atoms so far, and then lets every atom choose again, in turn, against the residual that the
others leave (coordinate descent).
"""
