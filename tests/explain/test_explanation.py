"""What an explanation says can be computed again from the model."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import setatoms
from setatoms.explain.evidence import squared_shares

NAMES = ["pressure", "flow", "heat", "speed", "load", "power"]


def by_name(record, key):
    """Return one number of every column of a record, in the order of the table."""
    return np.array([{c["column"]: c[key] for c in record["columns"]}[name] for name in NAMES])


@pytest.mark.parametrize("rank", ["contribution", "refill"])
def test_contributions_sum_to_one(detector, frame, rank):
    for record in detector.explain(frame, top=None, rank=rank).records:
        shares = by_name(record, "contribution")
        assert (shares >= 0).all()
        assert abs(shares.sum() - 1) < 1e-9


def test_expected_and_observed_give_the_score_and_its_shares(detector, frame):
    scale = detector.standardizer_.scale
    scores = -detector.score_samples(frame)
    for record, score in zip(detector.explain(frame, top=None).records, scores, strict=True):
        error = (by_name(record, "observed") - by_name(record, "expected")) / scale
        assert record["score"] == score
        # rounding of the way to the columns' units and back; inside a cone there is no error
        assert np.linalg.norm(error) / np.sqrt(6) == pytest.approx(score, rel=1e-9, abs=1e-12)
        assert error**2 == pytest.approx(6 * score**2 * by_name(record, "contribution"), abs=1e-9)


def test_atoms_and_their_coefficients_make_up_the_expected_row(frame):
    # plain atoms: the actual atom is the centre, so the sum can be taken here
    model = setatoms.VectorAtomDetector(
        n_atoms=6, n_iter=30, views=("relation",), random_state=0
    ).fit(frame)
    mean, scale = model.standardizer_.mean, model.standardizer_.scale
    for record in model.explain(frame, top=None).records:
        total = sum(a["coefficient"] * model.components_[a["atom"]] for a in record["atoms"])
        assert mean + scale * total == pytest.approx(by_name(record, "expected"), rel=1e-9)


def test_distances_tell_where_the_actual_atoms_are(detector, frame):
    kind = type(detector.kind_).__name__
    found = [atom for record in detector.explain(frame).records for atom in record["atoms"]]
    distances = np.array([atom["distance"] for atom in found])
    boundary = [atom["on_boundary"] for atom in found]
    if kind == "VectorAtoms":
        assert (distances == 0).all()
    elif kind == "ConeAtoms":
        # inside the cone, up to rounding of chords
        assert (distances <= 1 + 1e-9).all()
        assert boundary == (distances > 1 - 1e-6).tolist()
    else:
        assert (distances > 0).all()
    assert kind == "ConeAtoms" or set(boundary) == {None}


def test_gaussian_atoms_lean_towards_the_residual_as_computed(frame):
    model = setatoms.GaussianAtomDetector(n_atoms=6, n_iter=30, random_state=0).fit(frame)
    Z = model.standardizer_.apply(frame.to_numpy())
    codes = model.dictionary_.code(Z)
    for i, record in enumerate(model.explain(frame).records):
        for atom in record["atoms"]:
            centre, radius = model.components_[atom["atom"]], model.radii_[atom["atom"]]
            # where the objective is least, an actual atom is unit(d + lam rho^2 x r)
            lean = centre + model.kind_.lam * radius**2 * atom["coefficient"] * codes.residuals[i]
            chord = np.linalg.norm(lean / np.linalg.norm(lean) - centre)
            # the objective settles to 1e-7, so its variables to about the root of that
            assert chord / radius == pytest.approx(atom["distance"], rel=2e-3)


def test_top_cuts_a_list_that_starts_with_the_largest(detector, frame):
    whole = detector.explain(frame, top=None).records
    for record, cut in zip(whole, detector.explain(frame, top=2).records, strict=True):
        shares = [column["contribution"] for column in record["columns"]]
        assert shares == sorted(shares, reverse=True)
        assert cut["columns"] == record["columns"][:2]
        sizes = [abs(atom["coefficient"]) for atom in record["atoms"]]
        assert sizes == sorted(sizes, reverse=True)


def test_anomalies_are_those_that_predict_flags(detector, frame):
    frame = frame.copy()
    frame.loc[:20, "heat"] += 3.0
    flagged = [record["flagged"] for record in detector.explain(frame).records]
    assert flagged == (detector.predict(frame) == -1).tolist()
    assert 0 < sum(flagged) < len(frame)


@pytest.mark.parametrize("rank", ["contribution", "refill"])
def test_what_is_said_of_a_row_does_not_depend_on_the_batch(detector, frame, rank):
    whole = detector.explain(frame[:20], top=None, rank=rank).records
    for i in (0, 7, 19):
        (alone,) = detector.explain(frame[i : i + 1], top=None, rank=rank).records
        for key in ("expected", "contribution"):
            # coders promise 1e-10 of the row's norm; shares divide by the error
            assert by_name(alone, key) == pytest.approx(by_name(whole[i], key), rel=1e-5, abs=1e-7)


def test_explaining_never_writes_to_the_model(detector, frame):
    before = pickle.dumps(detector)
    detector.explain(frame, rank="refill")
    detector.counterfactual(frame[:5])
    assert pickle.dumps(detector) == before


@pytest.mark.parametrize("rank", ["contribution", "refill"])
def test_huge_and_tiny_rows_are_explained_in_finite_numbers(detector, rows, rank):
    X = rows[:4] * np.array([[1e306], [1e160], [1e-300], [0.0]])
    X[0, 0] = np.finfo(float).max
    for record in detector.explain(pd.DataFrame(X, columns=NAMES), top=None, rank=rank).records:
        numbers = [v for c in record["columns"] for v in c.values() if isinstance(v, float)]
        numbers += [atom[key] for atom in record["atoms"] for key in ("coefficient", "distance")]
        assert np.isfinite(numbers).all()
        assert abs(by_name(record, "contribution").sum() - 1) < 1e-9


def test_a_row_without_error_has_equal_shares():
    shares = squared_shares(np.array([[0.0, 0.0, 0.0], [5e-324, 0.0, 0.0], [1e308, 1e308, 0.0]]))
    np.testing.assert_allclose(shares, [[1 / 3] * 3, [1, 0, 0], [0.5, 0.5, 0]], rtol=1e-15)


def test_columns_without_names_are_numbered(rows):
    model = setatoms.VectorAtomDetector(n_atoms=6, n_iter=5, random_state=0).fit(rows)
    (record,) = model.explain(rows[:1], top=None).records
    assert {c["column"] for c in record["columns"]} == {f"x{j}" for j in range(6)}


def test_the_frame_is_tidy(detector, frame):
    explanation = detector.explain(frame, top=2, rank="refill")
    tidy = explanation.frame
    assert len(explanation) == len(frame)
    assert tidy.columns.tolist() == [
        *("row", "score", "flagged", "place", "column"),
        *("observed", "expected", "contribution", "implied", "drop"),
    ]
    assert tidy["row"].tolist() == np.repeat(np.arange(len(frame)), 2).tolist()
    assert tidy["place"].tolist() == [1, 2] * len(frame)


def test_records_survive_json(detector, frame):
    records = detector.explain(frame, rank="refill").records
    assert json.loads(json.dumps(records, allow_nan=False)) == records


@pytest.mark.parametrize("top", [0, -1, 1.5, True, "all"])
def test_a_wrong_top_is_refused(detector, frame, top):
    with pytest.raises(ValueError, match=r"top=.* at least 1, or None"):
        detector.explain(frame, top=top)


def test_a_wrong_rank_is_refused(detector, frame):
    with pytest.raises(ValueError, match="rank='shap' must be 'contribution' or 'refill'"):
        detector.explain(frame, rank="shap")


def test_a_missing_pandas_is_named(detector, frame):
    explanation = detector.explain(frame[:1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pandas", None)
        with pytest.raises(ImportError, match="pip install pandas"):
            _ = explanation.frame


def test_detectors_and_plots_leave_matplotlib_for_later():
    script = "import sys, setatoms.estimators, setatoms.plot; print('matplotlib' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("rank", ["contribution", "refill"])
def test_a_missing_value_is_not_to_blame(rows, rank):
    X = rows.copy()
    X[0, 2] = X[1, :4] = X[2] = np.nan
    model = setatoms.ConeAtomDetector(n_atoms=6, n_iter=20, missing="fill", random_state=0)
    records = (
        model.fit(pd.DataFrame(rows, columns=NAMES))
        .explain(pd.DataFrame(X, columns=NAMES), top=None, rank=rank)
        .records
    )
    scores = -model.score_samples(pd.DataFrame(X, columns=NAMES))
    assert [record["score"] for record in records] == scores.tolist()
    for record, row in zip(records[:2], X, strict=False):
        for column in record["columns"]:
            if np.isnan(row[NAMES.index(column["column"])]):
                assert column["observed"] is None
                assert column["contribution"] == column.get("drop", 0.0) == 0.0
        assert abs(by_name(record, "contribution").sum() - 1) < 1e-9
    assert records[2]["sentence"] == "as expected in every column"


def test_the_ranking_is_the_mean_contribution_of_flagged_rows(detector, frame):
    explanation = detector.explain(frame, top=None)
    for flagged in (True, False):
        records = [r for r in explanation.records if r["flagged"] or not flagged]
        expected = np.mean([by_name(record, "contribution") for record in records], axis=0)
        ranking = explanation.ranking(flagged=flagged)
        # the same sums, in another order
        assert [ranking[name] for name in NAMES] == pytest.approx(list(expected), rel=1e-12)
        assert list(ranking.values()) == sorted(ranking.values(), reverse=True)


def test_the_ranking_needs_all_columns_and_no_rows_have_none(detector, frame):
    with pytest.raises(ValueError, match=r"explain\(X, top=None\) lists all"):
        detector.explain(frame, top=2).ranking(flagged=False)
    normal = frame[detector.predict(frame) == 1]
    assert detector.explain(normal, top=None).ranking() == {}
