"""Gauss-L1: sparse coding with Gaussian atoms.

A Gaussian atom may be any unit vector ``a``, at a price that grows with its distance from the
centre ``d``. A signal ``y`` is coded by minimising, over unit ``a_j`` and coefficients ``x``,

    sum_j ||a_j - d_j||^2 / rho_j^2  +  lam ||y - sum_j x_j a_j||^2  +  gamma ||x||_1.

The problem is not convex; the solver, see `setatoms.coding.gauss.problem`, ends in a stationary
point and never raises the objective on the way.
"""
