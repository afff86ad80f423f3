"""What solvers know of each atom in use: the rows of their tables that mean the same in all."""

Z = 0
FIRST = 1  # correlation of the atom with the signal
NEAR = 2  # correlation with e = y - sum z d
SPREAD = 3
SIGN = 4
LIFT = 5  # 1 / alpha
WEAKEN = 6  # what the matrix lacks on its diagonal
# for linear algebra
RIGHT = 8
STEP = 9
LINE = 10
