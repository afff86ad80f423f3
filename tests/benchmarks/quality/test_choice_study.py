"""The study of chosen parameters counts rightly; its figures are published, not tested."""

import numpy as np
import pytest

import setatoms
from benchmarks.paper.rows import Rows
from benchmarks.quality import choice
from benchmarks.quality.halves import Case
from setatoms.estimators.choosing import ParameterChoice


def figures(default, chosen, **choices):
    return {"default": default, "chosen": chosen, "fits": 3.0, **choices}


FOUND = {
    Case("wine", 4): figures(0.90, 0.92, **{"n_nonzero=3": 1.0}),
    Case("wine", 5): figures(0.90, 0.90),
    Case("yeast", 4): figures(0.80, 0.79, **{"n_atoms=2.0": 1.0}),
    Case("glass", 4): figures(0.70, 0.70),
}


def test_tables_are_means_over_seeds():
    text = choice.table(FOUND)
    assert "| wine | 0.9000 | 0.9100 | +0.0100 | n_nonzero=3 (1) |" in text
    assert "| glass | 0.7000 | 0.7000 | +0.0000 | the defaults |" in text
    assert "| all | 0.8250 | 0.8275 | +0.0025 | n_nonzero=3 (1), n_atoms=2.0 (1) |" in text


def test_goals_count_tables_not_seeds():
    worse = {Case("vowels", 1): figures(0.9, 0.8)}
    half, other, every, search = choice.goals({"Half": FOUND, "Other": worse}).splitlines()
    assert half == "- Half: +0.0000 in the mean, better on 1 of 3, worse on 1."
    assert other == "- Other: -0.1000 in the mean, better on 0 of 1, worse on 1."
    assert every.startswith("- All tables: -0.0250 in the mean, better on 1 of 4, worse on 2.")
    assert every.count("**FAIL**") == 2
    assert choice.goals({"Half": FOUND}).count("(pass)") == 2
    assert "as 3.0 fits" in search


def test_a_case_compares_the_default_with_what_was_chosen(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    normal = rng.normal(size=(160, 2)) @ rng.normal(size=(2, 4)) + 0.5 * rng.normal(size=(160, 4))
    test = np.vstack([normal[120:], rng.normal(size=(10, 4))])
    rows = Rows(normal[:120], test, np.repeat([0, 1], [40, 10]), tmp_path)
    chosen = setatoms.SetAtomEnsemble(n_members=1, contamination=0.1, random_state=3)
    answer = ParameterChoice({"n_members": 1}, chosen, ())
    monkeypatch.setattr(choice, "choose_parameters", lambda *_: answer)
    found = choice.judge(rows, 3, 1)
    assert found["n_members=1"] == 1.0
    assert found["chosen"] == pytest.approx(choice._auc(chosen, rows))
    assert found["default"] != found["chosen"]
