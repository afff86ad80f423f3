"""A kind of one's own, registered from one file, does all that those of the library do."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import setatoms
from setatoms.cli import main
from setatoms.learning import KINDS, AtomKind, ConeAtoms, GaussianAtoms, register

sys.path.insert(0, str(Path(__file__).parent))

from balls import BallAtoms

pytestmark = pytest.mark.filterwarnings("ignore:.*rows per atom")


@pytest.fixture(autouse=True)
def balls():
    """Put balls on the list, and take them off again."""
    register(BallAtoms)
    yield
    del KINDS["ball"]


@pytest.fixture
def table():
    """Return rows of two clouds, and one between them."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 4)) * 0.3 + np.repeat([[2.0], [-2.0]], 150, axis=0) * [1, 1, -1, 1]
    return pd.DataFrame(np.vstack([rows, [[2.0, 2.0, 2.0, 2.0]]]), columns=list("abcd"))


def detector(**parameters):
    """Return a detector of balls."""
    return setatoms.SetAtomDetector(kind="ball", n_iter=20, random_state=0, **parameters)


def test_it_learns(table):
    model = detector(views=("relation",)).fit(table)
    assert model.history_.error[-1] < 0.7 * model.history_.error[0]
    lengths = np.linalg.norm(model.components_, axis=1)
    assert np.abs(lengths - 1).max() > 0.2, "centres need no unit length"


@pytest.mark.parametrize("views", [("relation",), ("relation", "size", "rarity")])
def test_it_detects(table, views):
    model = detector(views=views).fit(table[:-1])
    assert model.predict(table)[-1] == -1
    assert np.mean(model.predict(table[:-1]) == -1) < 0.15
    one, two = (detector(n_jobs=n).fit(table).score_samples(table) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_it_explains(table):
    model = detector(views=("relation",)).fit(table[:-1])
    record = model.explain(table[-1:]).records[0]
    assert record["columns"][0]["column"] == "c"
    # the row is outside all balls, so its point is on the boundary of the nearest
    assert record["atoms"][0]["distance"] == pytest.approx(1.0)
    assert record["atoms"][0]["on_boundary"] is True
    assert model.counterfactual(table[-1:], k=2).score_after < -model.score_samples(table[-1:])


def test_it_fills_gaps(table):
    model = detector(missing="fill").fit(table)
    rows = table[:5].copy()
    rows.iloc[:, 1] = np.nan
    filled = model.impute(rows)
    assert np.abs(filled[:, 1] - table["b"][:5]).max() < 2.5


def test_it_is_saved_and_loaded(table, tmp_path):
    for model in (detector().fit(table), ensemble().fit(table)):
        model.save(tmp_path / "model")
        loaded = setatoms.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.score_samples(table), model.score_samples(table))
    parameters = setatoms.SetAtomDetector(kind=BallAtoms(reach=8.0), n_iter=10, random_state=0)
    parameters.fit(table).save(tmp_path / "model")
    assert setatoms.load(tmp_path / "model").kind_ == BallAtoms(reach=8.0)


def ensemble():
    """Return an ensemble of balls and cones."""
    return setatoms.SetAtomEnsemble(kinds=("ball", "cone"), n_members=4, n_iter=10, random_state=0)


def test_it_joins_an_ensemble(table):
    model = ensemble().fit(table)
    assert [member.kind.name for member in model.members_] == ["ball", "cone", "ball", "cone"]
    assert model.predict(table)[-1] == -1


def test_it_runs_from_the_command_line(table, tmp_path, capsys):
    table.to_csv(tmp_path / "table.csv", index=False)
    path = str(tmp_path / "table.csv")
    assert main(["detect", path, "--method", "ball", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["top"][0]["row"] == 301
    model = str(tmp_path / "model")
    for command in (["fit", path, "--method", "ball", "--save", model], ["score", model, path]):
        assert main(command) == 0
    assert main(["detect", path, "--method", "bull"]) == 2
    assert "'bull' is not one of ensemble, gaussian, cone, vector, ball" in capsys.readouterr().err


def test_names_are_taken_once():
    with pytest.raises(ValueError, match="a kind called 'ball' or BallAtoms is known already"):
        register(BallAtoms)
    with pytest.raises(ValueError, match="kind='bull' must be the name of a kind of atoms"):
        setatoms.SetAtomDetector(kind="bull").fit(np.eye(3))
    with pytest.raises(ValueError, match="kind='vector' has no radii; use its own detector"):
        setatoms.SetAtomDetector(kind="vector").fit(np.random.default_rng(0).normal(size=(60, 3)))


def test_a_kind_says_what_it_cannot_be(table, tmp_path):
    with pytest.raises(ValueError, match=r"reach=-1.0 must be a positive float"):
        setatoms.SetAtomDetector(kind=BallAtoms(reach=-1.0)).fit(table)
    with pytest.raises(ValueError, match=r"gamma=-1.0 must be a positive number"):
        setatoms.SetAtomDetector(kind=GaussianAtoms(gamma=-1.0)).fit(table)
    with pytest.raises(ValueError, match=r"n_nonzero=0 must be a whole number"):
        setatoms.SetAtomDetector(kind=ConeAtoms(n_nonzero=0)).fit(table)


def make_kind(**attributes):
    """Return a kind that is not registered."""
    return type("OddAtoms", (AtomKind,), {"coder": BallAtoms.coder, **attributes})


def test_only_frozen_dataclasses_with_a_name_and_defaults_are_registered():
    with pytest.raises(ValueError, match=r"OddAtoms.name=None must be a word"):
        register(make_kind())
    with pytest.raises(TypeError, match="must be a frozen dataclass"):
        register(make_kind(name="odd"))
    with pytest.raises(TypeError, match="must be a frozen dataclass"):
        register(dataclass(make_kind(name="odd")))
    bare = make_kind(name="odd", __annotations__={"reach": float})
    with pytest.raises(TypeError, match="all fields of OddAtoms must have defaults"):
        register(dataclass(frozen=True)(bare))
    with pytest.raises(ValueError, match="'ensemble' or OddAtoms is known already"):
        register(dataclass(frozen=True)(make_kind(name="ensemble")))
