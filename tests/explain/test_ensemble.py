"""What an ensemble says of a row is the weighted mean of what its members say."""

import json

import numpy as np
import pandas as pd
import pytest

import setatoms
from setatoms.explain.evidence import squared_shares

NAMES = ["pressure", "flow", "heat", "speed", "load", "power"]


@pytest.fixture(scope="module")
def ensemble(training):
    """Return a fitted ensemble that knows the columns by name."""
    model = setatoms.SetAtomEnsemble(n_members=4, n_iter=20, views=("relation",), random_state=0)
    return model.fit(training)


def by_name(record, key):
    """Return one number of every column of a record, in the order of the table."""
    return np.array([{c["column"]: c[key] for c in record["columns"]}[name] for name in NAMES])


@pytest.mark.parametrize("rank", ["contribution", "refill"])
def test_contributions_sum_to_one(ensemble, frame, rank):
    for record in ensemble.explain(frame, top=None, rank=rank).records:
        shares = by_name(record, "contribution")
        assert (shares >= 0).all()
        assert abs(shares.sum() - 1) < 1e-9


def test_expected_rows_and_contributions_are_means_weighted_by_the_score(ensemble, frame):
    Z = ensemble.standardizer_.apply(frame.to_numpy())
    codes = [m.code(Z) for m in ensemble.members_]
    ratios = np.array([c.errors for c in codes]) / ensemble.combination_.units[:, None]
    # the score is the mean of the smaller half of the ratios
    ratios[np.argsort(ratios, axis=0)[-(len(ratios) // 2) :], np.arange(len(Z))] = 0.0
    weights = ratios / ratios.sum(axis=0)
    expected = np.einsum("kn,knm->nm", weights, np.array([Z - c.residuals for c in codes]))
    shares = np.einsum("kn,knm->nm", weights, [squared_shares(c.residuals) for c in codes])
    expected = ensemble.standardizer_.restore(expected)
    for i, record in enumerate(ensemble.explain(frame, top=None).records):
        np.testing.assert_allclose(by_name(record, "expected"), expected[i], rtol=1e-9)
        np.testing.assert_allclose(by_name(record, "contribution"), shares[i], rtol=1e-9)
        assert record["score"] == pytest.approx(2.0 * ratios[:, i].mean())


def test_what_is_said_of_a_row_does_not_depend_on_the_batch(ensemble, frame):
    whole = ensemble.explain(frame[:20], top=None).records
    for i in (0, 7, 19):
        (alone,) = ensemble.explain(frame[i : i + 1], top=None).records
        for key in ("expected", "contribution"):
            # coders promise 1e-10 of the row's norm; shares divide by the error
            assert by_name(alone, key) == pytest.approx(by_name(whole[i], key), rel=1e-5, abs=1e-7)


def test_atoms_know_their_member_and_records_survive_json(ensemble, frame):
    records = ensemble.explain(frame, rank="refill").records
    assert json.loads(json.dumps(records, allow_nan=False)) == records
    assert {atom["member"] for record in records for atom in record["atoms"]} == {0, 1, 2, 3}


def test_a_counterfactual_takes_the_first_by_refill_and_scores_as_it_says(ensemble, frame):
    firsts = [r["columns"][0]["column"] for r in ensemble.explain(frame, 1, "refill").records]
    found = ensemble.counterfactual(frame, k=1)
    assert [columns[0] for columns in found.columns] == firsts
    changed = pd.DataFrame(found.rows, columns=NAMES)
    np.testing.assert_array_equal(found.score_after, -ensemble.score_samples(changed))


def test_the_shifted_column_comes_first_by_refill(ensemble, frame):
    shifted = frame.copy()
    shifted["speed"] += 3 * ensemble.standardizer_.scale[3]
    records = ensemble.explain(shifted, top=1, rank="refill").records
    # three causes behind six columns tell the rest; chance would be a sixth
    assert np.mean([record["columns"][0]["column"] == "speed" for record in records]) > 0.6


def test_huge_rows_are_explained_in_finite_numbers(ensemble, rows):
    X = rows[:3] * np.array([[1e306], [1e-300], [0.0]])
    for record in ensemble.explain(pd.DataFrame(X, columns=NAMES), top=None).records:
        assert np.isfinite(by_name(record, "expected")).all()
        assert abs(by_name(record, "contribution").sum() - 1) < 1e-9
