"""Orthogonal matching pursuit: greedy selection, least squares on the support.

After each selection the coefficients are those of the least-squares fit on all atoms chosen so
far. Correlations with the residual never need the residual itself: they start as ``D y`` and change
by combinations of rows of the Gram matrix ``D D'``, so a signal costs one row of a block product
and a few passes over vectors of length ``n_atoms``.
"""
