"""Orthogonal matching pursuit: greedy selection, least squares on the support.

After each selection the coefficients are those of the least-squares fit on all atoms chosen so
far. Correlations with the residual never need the residual itself: they start as ``D y`` and change
by combinations of rows of the Gram matrix ``D D'``, so a signal costs one row of a block product
and a few passes over vectors of length ``n_atoms``.

`kernels` goes through the rows. Two atoms, the usual case, are found by `pairs`, one or 3 to 16 by
`steps`, both for a block of signals at a time; `coarse` chooses atoms of large dictionaries in
single precision for them. What they decline, and codes of more atoms, is coded signal by signal.
"""
