"""Our detectors as PyOD models. Needs the extra: ``pip install "setatoms[pyod]"``."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from setatoms.estimators import (
    ConeAtomDetector,
    GaussianAtomDetector,
    SetAtomDetector,
    SetAtomEnsemble,
    VectorAtomDetector,
)

try:
    from pyod.models.base import BaseDetector
except ImportError as error:
    raise ImportError('setatoms.pyod needs PyOD: pip install "setatoms[pyod]"') from error


Detector = (
    GaussianAtomDetector | ConeAtomDetector | VectorAtomDetector | SetAtomDetector | SetAtomEnsemble
)


class PyODDetector(BaseDetector):
    """Wrap a detector of this library in the conventions of PyOD.

    Scores are minus `score_samples`, higher for more abnormal rows; labels are 1 for outliers and
    0 for all other rows. `predict`, `predict_proba`, `predict_confidence`, `predict_with_rejection`
    and `compute_rejection_stats` are PyOD's own. Its probabilities are scores, rescaled to lie
    between 0 and 1 by those of the training rows. For p-values give normal rows
    outside the fit to ``detector_.calibrate`` and ask ``detector_.p_values``.

    Parameters
    ----------
    detector : detector of this library or None, default=None
        What to fit; None stands for ``SetAtomEnsemble()``. It is cloned, never changed, and its own
        `contamination` is not used.
    contamination : float, default=0.1
        The share of training rows beyond the threshold, or a PyThresh object.

    Attributes
    ----------
    detector_ : detector
        The fitted clone.
    decision_scores_ : ndarray of shape (n_samples,)
        Scores of the training rows.
    threshold_ : float
        Rows that score above it are outliers.
    labels_ : ndarray of shape (n_samples,)
        1 for the outliers among the training rows, 0 for the others.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms import ConeAtomDetector
    >>> from setatoms.pyod import PyODDetector
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> model = PyODDetector(ConeAtomDetector(random_state=0), contamination=0.05).fit(X)
    >>> int(model.labels_.sum())
    10
    >>> labels, confidence = model.predict(X, return_confidence=True)
    >>> probabilities = model.predict_proba(X, method="unify")
    >>> confidence.shape, probabilities.shape
    ((200,), (200, 2))
    """

    def __init__(
        self,
        detector: Detector | None = None,
        contamination: Any = 0.1,
    ) -> None:
        super().__init__(contamination=contamination)
        self.detector = detector

    def fit(self, X: Any, y: object = None) -> Self:
        """Fit the detector and score the training rows.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            Finite numbers, at least two rows and two features.
        y : Ignored
            Present for API consistency.

        Returns
        -------
        self : object
            The fitted model.
        """
        prototype = SetAtomEnsemble() if self.detector is None else self.detector
        # any float will do: PyOD sets the threshold, and "auto" would fit three times
        detector = clone(prototype).set_params(contamination=0.1).fit(X)
        self._set_n_classes(None)
        self.detector_ = detector
        self.decision_scores_ = -detector.score_samples(X)
        self._process_decision_scores()
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return minus `score_samples` of each row: the higher, the more abnormal.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The same features in the same order as in `fit`.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Minus `score_samples` of the detector.
        """
        check_is_fitted(self, "detector_")
        scores: NDArray[np.float64] = self.detector_.score_samples(X)
        return -scores
