"""Look at scores, rows and atoms. Needs the extra: ``pip install "setatoms[plot]"``.

Scores are drawn as minus `score_samples`: the further to the right, the more anomalous. Every
function takes single detectors and ensembles, draws into `ax` if given, and returns the axes it
drew into: a notebook shows their figure once.
"""

from setatoms.plot.axes import import_pyplot
from setatoms.plot.learned import atoms, radii, usage
from setatoms.plot.rows import observed_and_expected
from setatoms.plot.scores import roc, score_histogram

__all__ = [
    "atoms",
    "import_pyplot",
    "observed_and_expected",
    "radii",
    "roc",
    "score_histogram",
    "usage",
]
