"""A detector and how it reads a table, together."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setatoms.files import Column, Encoding

Array = NDArray[np.float64]

_WORDS = {
    "GaussianAtomDetector": "Gaussian atoms",
    "ConeAtomDetector": "cone atoms",
    "VectorAtomDetector": "vector atoms",
    "SetAtomDetector": "{kind} atoms",
    "SetAtomEnsemble": "an ensemble of dictionaries",
}


@dataclass(frozen=True)
class Model:
    """A fitted detector with the columns it wants.

    Attributes
    ----------
    detector : ErrorDetector
        The detector, of one dictionary or many.
    encoding : Encoding
        How the columns of a file become its features.
    of_training_rows : bool
        Whether the rows to judge are those that were learned from.
    """

    detector: Any
    encoding: Encoding
    of_training_rows: bool = False

    @property
    def words(self) -> str:
        """What the detector learns."""
        words = _WORDS[type(self.detector).__name__]
        return words.format(kind=getattr(self.detector, "kind_", None) and self.detector.kind_.name)

    @property
    def threshold(self) -> float:
        """Rows with a higher score are flagged."""
        detector = self.detector
        return -float(detector.training_offset_ if self.of_training_rows else detector.offset_)

    @property
    def calibrated(self) -> bool:
        """Whether there are p-values."""
        return getattr(self.detector, "calibration_scores_", None) is not None

    def scores(self, X: Array) -> Array:
        """Return the scores of rows (n_rows, n_features), higher for more anomalous ones."""
        with _names_known():
            return -np.asarray(self.detector.score_samples(X), np.float64)

    def follow(self, X: Array, *, learn: bool) -> Array:
        """Return the scores of rows (n_rows, n_features) that come, then learn from them."""
        with _names_known():
            return -np.asarray(self.detector.follow(X, learn=learn), np.float64)

    def atom_usage(self, X: Array) -> list[Array]:
        """Return the share of rows (n_rows, n_features) that use each atom of each dictionary."""
        with _names_known():
            usage: list[Array] = self.detector.atom_usage(X)
        return usage

    def p_values(self, scores: Array) -> Array | None:
        """Return the p-values of `scores` (n_rows,), None if the model has none."""
        from setatoms.decisions import conformal_p_values

        if not self.calibrated:
            return None
        return np.asarray(conformal_p_values(-scores, self.detector.calibration_scores_))

    def explain(
        self, X: Array, top: int | None, rank: str = "contribution", *, atoms: bool = True
    ) -> list[dict[str, Any]]:
        """Return a record for each row of `X`, with the `top` columns most to blame."""
        if not len(X):
            return []
        with _names_known():
            found = self.detector.explain(X, top=top, rank=rank, atoms=atoms)
        records: list[dict[str, Any]] = found.records
        return records

    def counterfactual(self, row: Array, k: int) -> dict[str, Any]:
        """Return what `k` columns of a row (1, n_features) would have to be to look normal."""
        names = self.encoding.features
        if k >= len(names):
            raise ValueError(
                f"--counterfactual {k} must be below the number of features, {len(names)}"
            )
        with _names_known():
            found = self.detector.counterfactual(row, k)
        places = {name: names.index(name) for name in found.columns[0]}
        columns = {
            name: {
                "from": None if np.isnan(row[0, j]) else float(row[0, j]),
                "to": float(found.rows[0, j]),
            }
            for name, j in places.items()
        }
        return {"columns": columns, "score": float(found.score_after[0])}

    def save(self, path: Path) -> None:
        """Write the model to a file, whole or not at all."""
        self.detector.save(path, notes={"table": self.encoding.to_json()})


def load_model(path: Path, data: str | None = None) -> Model:
    """Read a model, saved here or in Python, to judge `data` by."""
    import setatoms
    from setatoms.persistence import read_header
    from setatoms.warm_up import compile_ahead, parts_of

    if data is not None and not _is_model(path) and _is_model(data):
        raise ValueError(f"{data} is a model and {path} is none; the model comes first")
    header = read_header(path)
    if header["estimator"] not in _WORDS:
        raise ValueError(f"{path} is a {header['estimator']}, not a detector; it gives no scores")
    table = header.get("notes", {}).get("table")
    if table is not None:
        encoding = Encoding.from_json(table)
    else:
        encoding = _plain_encoding(path, header["features"]["names"])
    if len(encoding.features) != header["features"]["count"]:
        raise ValueError(
            f"{path} has {header['features']['count']} features and says how to read "
            f"{len(encoding.features)} from a table; fit and save the model again"
        )
    detector = setatoms.load(path)
    kinds = {dictionary.kind.name for dictionary in detector.dictionaries_}
    compile_ahead(parts_of(kinds, views=detector.guard_ is not None, scoring=True))
    # a model made in Python may reject gaps; here they are filled, and said to be
    return Model(detector.set_params(missing="fill"), encoding)


def _is_model(path: str | Path) -> bool:
    from setatoms.persistence import ModelFileError, read_header

    try:
        read_header(path)
    except (ModelFileError, OSError):
        return False
    return True


def _plain_encoding(path: Path, names: list[str] | None) -> Encoding:
    """Take the features of a model made in Python for columns of the same names."""
    if names is None:
        raise ValueError(
            f"{path} does not know the names of its columns; fit it on a table with names"
        )
    return Encoding(tuple(Column(name) for name in names))


@contextmanager
def _names_known() -> Iterator[None]:
    """Keep scikit-learn from remarking that arrays have no names: the encoding has seen to them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield
