"""The paper's methods: each is the detector that its table says, started as it says."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

import setatoms
from benchmarks.paper import rows as rows_module
from benchmarks.paper.methods import PAPER_METHODS
from benchmarks.paper.rows import Rows

# The table of methods: detector, whether atoms start from AK-SVD, and what makes it this method.
TABLE = {
    "AK-SVD + OMP": ("VectorAtomDetector", False, {}),
    "Gauss-L1": ("GaussianAtomDetector", True, {"learn": False}),
    "DL-Gauss-L1": ("GaussianAtomDetector", True, {"adapt": None}),
    "DLG-L1-adapt (0-norm)": ("GaussianAtomDetector", True, {"adapt": "l0"}),
    "DLG-L1-adapt (1-norm)": ("GaussianAtomDetector", True, {"adapt": "l1"}),
    "Cone-DL": ("ConeAtomDetector", False, {"init": "random", "adapt": None}),
    "Cone-DL-D": ("ConeAtomDetector", True, {"adapt": None}),
    "DLC-adapt (0-norm)": ("ConeAtomDetector", False, {"init": "random", "adapt": "l0"}),
    "DLC-adapt (1-norm)": ("ConeAtomDetector", False, {"init": "random", "adapt": "l1"}),
    "DLC-D-adapt (0-norm)": ("ConeAtomDetector", True, {"adapt": "l0"}),
    "DLC-D-adapt (1-norm)": ("ConeAtomDetector", True, {"adapt": "l1"}),
}
METHODS = {method.name: method for method in PAPER_METHODS}


def test_the_methods_are_those_of_the_paper() -> None:
    assert list(METHODS) == list(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_method_is_the_constructor_call_of_the_table(name: str, rows: Rows) -> None:
    detector, from_aksvd, arguments = TABLE[name]
    config = "n3" if detector == "VectorAtomDetector" else "n3 r0.01-0.1 50-50"
    if from_aksvd:
        Z = StandardScaler().fit_transform(rows.train)
        arguments = arguments | {"init": setatoms.aksvd(Z, 15, random_state=7)}
    if detector != "VectorAtomDetector":
        arguments = arguments | {"radii": (0.01, 0.1), "radii_distribution": "50-50"}
    expected = getattr(setatoms, detector)(
        n_atoms=3.0, contamination=0.1, views=("relation",), random_state=7, **arguments
    ).fit(rows.train)
    scored = METHODS[name].score(rows, config, seed=7)
    # scikit-learn's z-scores differ from ours by rounding, which learning carries on
    np.testing.assert_allclose(scored.abnormality, -expected.score_samples(rows.test), rtol=1e-5)
    assert scored.error == pytest.approx(scored.abnormality.mean())


@pytest.mark.parametrize("name", list(TABLE)[1:])
def test_set_atom_methods_have_18_configurations(name: str) -> None:
    sizes = ("n2", "n2.5", "n3") if "Gauss" in TABLE[name][0] else ("n2", "n3", "n4")
    expected = {
        f"{size} r{radii} {distribution}"
        for size in sizes
        for radii in ("0.01-0.1", "0.04-0.12")
        for distribution in ("linear", "50-50", "80-20")
    }
    assert set(METHODS[name].studied) == expected
    assert len(METHODS[name].repeated) == 3
    assert set(METHODS[name].repeated) < expected


def test_plain_atoms_come_in_four_sizes() -> None:
    assert METHODS["AK-SVD + OMP"].studied == ("n2", "n2.5", "n3", "n4")


def test_a_start_is_computed_once_for_all_methods(
    rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []
    original = setatoms.aksvd

    def count(X: np.ndarray, n_atoms: int, **arguments: object) -> np.ndarray:
        sizes.append(n_atoms)
        return original(X, n_atoms, **arguments)

    monkeypatch.setattr(rows_module, "aksvd", count)
    for name in ("DL-Gauss-L1", "Cone-DL-D", "DLC-D-adapt (1-norm)"):
        METHODS[name].score(rows, "n3 r0.04-0.12 linear", seed=1)
    assert sizes == [15]


def test_a_kept_start_gives_the_scores_of_a_new_one(rows: Rows) -> None:
    method = METHODS["DLC-D-adapt (1-norm)"]
    new = method.score(rows, "n4 r0.04-0.12 80-20", seed=1)
    kept = method.score(rows, "n4 r0.04-0.12 80-20", seed=1)
    np.testing.assert_array_equal(kept.abnormality, new.abnormality)
    elsewhere = dataclasses.replace(rows, starts=rows.starts.with_name("elsewhere"))
    again = method.score(elsewhere, "n4 r0.04-0.12 80-20", seed=1)
    np.testing.assert_array_equal(again.abnormality, new.abnormality)


def test_further_starts_on_the_same_rows_differ(rows: Rows) -> None:
    method = METHODS["DLC-D-adapt (1-norm)"]
    one = method.score(rows, "n4 r0.04-0.12 80-20", seed=1)
    two = method.score(rows, "n4 r0.04-0.12 80-20 start2", seed=1)
    assert not np.array_equal(one.abnormality, two.abnormality)
