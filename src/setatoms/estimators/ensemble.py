"""Many small dictionaries instead of one: what differs from start to start averages out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from setatoms.decisions import Combination
from setatoms.estimators.documented import estimator
from setatoms.estimators.members import EnsembleRecipe, ensemble_recipe
from setatoms.estimators.signatures import DetectorParameters
from setatoms.estimators.stream_members import MembersFromStream
from setatoms.learning.dictionary import FittedDictionary

Array = NDArray[np.float64]

_FEW_MEMBERS = 12


@estimator
class SetAtomEnsemble(DetectorParameters, MembersFromStream):
    r"""Detect anomalies by the representation errors on many small dictionaries of set-atoms.

    Members are Gaussian and cone dictionaries with different random starts, sizes and radii, each
    learned for a few iterations. Their errors are one of the `views` that make up the score, see
    `setatoms.views.guard`. With ``views=("relation",)`` they are all of it: let :math:`\|r_k\|` be
    the error that member :math:`k` leaves of a row and :math:`u_k` the median of its errors on the
    training rows. With the ratios :math:`q_k = \|r_k\| / u_k` in increasing order, the score is
    then minus the mean of the smaller half,

    .. math::
        -\frac{1}{H} \sum_{k=1}^{H} q_{(k)}, \quad H = \lceil K / 2 \rceil

    so a row that half of the members represent well is normal, and a typical training row scores
    about -1. Explanations are means over members, weighted by their share in this sum; `impute`
    and `counterfactual` take plain means.

    Parameters
    ----------
    budget : {"fast", "balanced", "best"}, default="balanced"
        6, 20 or 60 members. The members of a smaller budget are the first of a larger one.
    n_members : int or None, default=None
        Number of members; None leaves it to `budget`.
    kinds : tuple of str, default=("gaussian", "cone")
        Kinds of dictionaries; members take turns. Others than these two can be added.
    diversity : {"all", "sizes", "radii", "starts"}, default="all"
        What differs between members of a kind beside their random starts: the number of atoms, the
        distribution of radii, both ("all") or nothing ("starts").
    rule : str, default="lower-half"
        How errors are combined with ``views=("relation",)``, see above. Others, for comparison:
        "mean" (of all ratios), "mean-by-kind" (with one unit for all members of a kind),
        "plain-mean" (no units), "median", and the means of another part of the ratios:
        "upper-half", "lower-quarter" and "least" (the smallest alone).
    subsample : float or None, default=None
        The share of rows that each member learns from, drawn anew for each. None takes 15 rows for
        each of its atoms, at least 1,000, or all if there are fewer.
    n_atoms : float, int or None, default=None
        Number of atoms of every member: a float counts per feature, an int in total. None takes 6
        and 10 per feature in turn (of two features 6), but at most one for 20 rows where these
        are few.
    radii : (float, float), default=(0.04, 0.12)
        The smallest and the largest radius, inside (0, sqrt 2).
    n_nonzero : int, default=2
        Atoms that represent a row in a cone member; at most one fewer than features are used.
    gamma : float, default=1.0
        Weight of the 1-norm in a Gaussian member; larger means fewer atoms for a row.
    n_iter : int, default=10
        Iterations of learning of each member.
    adapt_every : int, default=5
        Iterations from one adaptation of the radii to the next.
    missing : {"error", "fill"}, default="error"
        What NaN is: an error, or a missing value, which every member fills on its own.
    n_jobs : int or None, default=-1
        Threads; -1 takes all cores, None one. Members learn side by side. Results do not depend on
        it.

    Attributes
    ----------
    members_ : tuple of FittedDictionary
        The dictionaries: `kind`, `atoms`, `radii` and `history` of each.
    combination_ : Combination
        The rule with the unit of each member.

    See Also
    --------
    GaussianAtomDetector : A single dictionary, with all its parameters.

    Examples
    --------
    Two features that always agree; no single value of the last row is unusual.

    >>> import numpy as np
    >>> from setatoms import SetAtomEnsemble
    >>> rng = np.random.default_rng(0)
    >>> depth = rng.normal(size=(400, 1))
    >>> X = np.hstack([depth, depth, -depth]) + 0.1 * rng.normal(size=(400, 3))
    >>> detector = SetAtomEnsemble(budget="fast", random_state=0).fit(X)
    >>> detector.predict([[1.0, 1.0, -1.0], [1.0, -1.0, 1.0]])
    array([ 1, -1])
    >>> len(detector.members_)
    6
    """

    # its halves have half of the atoms, and leave more of any row
    _seen_weight = 1 / 3

    budget: str = "balanced"
    n_members: int | None = None
    kinds: tuple[str, ...] = ("gaussian", "cone")
    diversity: str = "all"
    rule: str = "lower-half"
    subsample: float | None = None
    n_atoms: float | None = None
    radii: tuple[float, float] = (0.04, 0.12)
    n_nonzero: int = 2
    gamma: float = 1.0
    n_iter: int = 10
    adapt_every: int = 5

    def _recipe(self, n_samples: int, n_features: int) -> EnsembleRecipe:
        return ensemble_recipe(self, n_samples, n_features)

    def _trial_recipe(self, n_samples: int, n_features: int) -> EnsembleRecipe:
        # not shortened: few atoms that learn briefly want other parameters
        recipe = self._recipe(n_samples, n_features)
        return replace(recipe, recipes=recipe.recipes[:_FEW_MEMBERS])

    def _keep(self, learned: tuple[FittedDictionary, ...]) -> None:
        self.members_ = learned

    def _compare(self, errors: Array) -> None:
        kinds = [member.kind.name for member in self.members_]
        self.combination_ = Combination.learn(self.rule, errors, kinds)

    @property
    def dictionaries_(self) -> tuple[FittedDictionary, ...]:
        """The members."""
        return self.members_

    def _combination(self) -> Combination:
        return self.combination_
