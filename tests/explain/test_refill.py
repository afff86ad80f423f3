"""A refilled column is what the others imply, and counterfactual rows score as they say."""

import numpy as np
import pandas as pd
import pytest

import setatoms
from setatoms.explain import refill

NAMES = ["pressure", "flow", "heat", "speed", "load", "power"]


def corrupt(frame, name, by):
    changed = frame.copy()
    changed[name] += by
    return changed


def test_a_refill_lowers_the_score_by_its_drop(detector, frame):
    for i, record in enumerate(detector.explain(frame[:8], top=2, rank="refill").records):
        for column in record["columns"]:
            changed = frame[i : i + 1].copy()
            changed[column["column"]] = column["implied"]
            drop = record["score"] + detector.score_samples(changed)[0]
            # units there and back, then coding to the coder's own tolerance
            assert drop == pytest.approx(column["drop"], abs=1e-5)


def test_columns_come_by_their_drop(detector, frame):
    for record in detector.explain(frame, top=None, rank="refill").records:
        drops = [column["drop"] for column in record["columns"]]
        assert drops == sorted(drops, reverse=True)


def test_gaussian_refills_beat_all_other_values(rows):
    model = setatoms.GaussianAtomDetector(n_atoms=6, n_iter=30, random_state=0).fit(rows)
    Z = model.standardizer_.apply(rows[:5])
    free = np.zeros(Z.shape, bool)
    values = refill.refill_each(model.dictionary_, Z, free, 1).values
    for i, j in np.ndindex(5, 6):
        # the objective that is minimised over the entry: a grid finds nothing lower
        trials = np.repeat(Z[i : i + 1], 201, axis=0)
        trials[:, j] = np.linspace(-4, 4, 201)
        trials[0, j] = values[i, j]
        codes = model.dictionary_.code(trials)
        own = codes.objective - model.kind_.lam * codes.residuals[:, j] ** 2
        assert own[0] <= own[1:].min() + 1e-4 * abs(own[0])


def test_refills_do_not_depend_on_the_slabs(detector, rows, monkeypatch):
    Z = detector.standardizer_.apply(rows[:9])
    free = np.zeros(Z.shape, bool)
    whole = refill.refill_each(detector.dictionary_, Z, free, 1)
    monkeypatch.setattr(refill, "_SLAB_NUMBERS", 7 * Z.shape[1])
    for one, other in zip(whole, refill.refill_each(detector.dictionary_, Z, free, 1), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)


def test_the_shifted_column_comes_first_by_refill(detector, frame):
    shifted = corrupt(frame, "speed", 3 * detector.standardizer_.scale[3])
    records = detector.explain(shifted, top=1, rank="refill").records
    first = [record["columns"][0]["column"] for record in records]
    # three causes behind six columns tell the rest; chance would be a sixth
    assert np.mean(np.array(first) == "speed") > 0.6


@pytest.mark.parametrize("k", [1, 3])
def test_counterfactual_scores_are_those_of_its_rows(detector, frame, k):
    found = detector.counterfactual(frame, k=k)
    np.testing.assert_array_equal(found.score_before, -detector.score_samples(frame))
    changed = pd.DataFrame(found.rows, columns=NAMES)
    np.testing.assert_array_equal(found.score_after, -detector.score_samples(changed))
    np.testing.assert_array_equal(found.flagged_after, detector.predict(changed) == -1)


def test_a_counterfactual_changes_only_its_columns(detector, frame):
    found = detector.counterfactual(frame, k=2)
    for i, columns in enumerate(found.columns):
        assert len(set(columns)) == 2
        kept = [j for j, name in enumerate(NAMES) if name not in columns]
        np.testing.assert_array_equal(found.rows[i, kept], frame.to_numpy()[i, kept])


def test_a_counterfactual_of_one_column_takes_the_first_by_refill(detector, frame):
    records = detector.explain(frame, top=1, rank="refill").records
    found = detector.counterfactual(frame, k=1)
    # exact rows have nothing to lower: any column will do
    wrong = found.score_before > 0
    firsts = [(record["columns"][0]["column"],) for record in records]
    assert [f for f, w in zip(firsts, wrong, strict=True) if w] == [
        c for c, w in zip(found.columns, wrong, strict=True) if w
    ]


def test_a_corrupted_row_is_brought_back_below_the_threshold(detector, frame):
    broken = corrupt(frame, "heat", 4 * detector.standardizer_.scale[2])
    found = detector.counterfactual(broken, k=3)
    assert found.flagged_before.mean() > 0.5
    # the rows were normal, apart from the few that the threshold gives up
    assert found.flagged_after[found.flagged_before].mean() <= 0.1
    assert np.mean(["heat" in columns for columns in found.columns]) > 0.9


@pytest.mark.parametrize("k", [0, 6, 1.0, True])
def test_a_wrong_number_of_columns_is_refused(detector, frame, k):
    with pytest.raises(ValueError, match=r"k=.* at least 1 and below the 6"):
        detector.counterfactual(frame, k=k)
