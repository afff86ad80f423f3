"""The study of ensembles compares what it says; its figures are published, not tested."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import laplace

import setatoms
from benchmarks.paper.rows import Rows
from benchmarks.quality import ensemble, halves, opinions
from setatoms.learning.kinds import GaussianAtoms


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    rng = np.random.default_rng(0)
    normal = rng.normal(size=(280, 2)) @ rng.normal(size=(2, 4)) + 0.1 * rng.normal(size=(280, 4))
    test = np.vstack([normal[240:], 2 * rng.normal(size=(10, 4))])
    return Rows(normal[:240], test, np.repeat([0, 1], [40, 10]), tmp_path_factory.mktemp("starts"))


@pytest.fixture(scope="module")
def pool(rows):
    return ensemble.learn(rows, 3, "default", 1)


def test_the_default_design_is_the_default_ensemble(rows, pool):
    model = setatoms.SetAtomEnsemble(random_state=3, contamination=0.1, views=("relation",)).fit(
        rows.train
    )
    expected = -model.score_samples(rows.test)
    np.testing.assert_allclose(ensemble.combine(ensemble.Design(), pool), expected)


def test_every_design_of_a_pool_is_judged(rows, pool):
    wanted = [design for design in ensemble.designs() if design.pool == "default"]
    figures = ensemble.judge(rows, pool, wanted)
    assert set(figures) == {ensemble.SINGLE, *map(str, wanted)}
    assert all(0 <= auc <= 1 for auc in figures.values())
    assert figures[str(ensemble.Design())] > 0.9


def test_members_on_some_of_the_columns_see_no_others(rows):
    seen = list(ensemble._members(rows, 3, "70 % of columns", 1))
    assert len(seen) == ensemble.Design.n_members
    assert {member.atoms.shape[1] for member, _, _ in seen} == {3}
    assert len({train.tobytes() for _, train, _ in seen}) > 1


def test_one_score_beside_another_is_the_mean_of_both_on_one_scale(pool):
    said = [
        ensemble.standardised(ensemble.opinion(ensemble.Design(), pool, score)).test
        for score in ("error", "atoms")
    ]
    together = ensemble.combine(ensemble.Design(scores=("error", "atoms")), pool)
    np.testing.assert_allclose(together, np.mean(said, axis=0))


def test_the_objective_of_gaussians_is_what_their_coder_minimises(rows):
    model = setatoms.SetAtomEnsemble(n_members=2, random_state=0, contamination=0.1)
    for member in model.fit(rows.train).members_:
        Z = model.standardizer_.apply(rows.test)
        coded = opinions.code(member, Z, 1)
        codes = member.code(Z)
        np.testing.assert_allclose(coded.errors, codes.errors)
        if isinstance(member.kind, GaussianAtoms):
            np.testing.assert_allclose(coded.objective, codes.objective, rtol=1e-6)


def test_atypicality_is_minus_the_log_likelihood_of_a_code():
    rng = np.random.default_rng(1)
    dense = rng.laplace(size=(50, 4)) * (rng.random((50, 4)) < [0.2, 0.5, 0.9, 0.4])
    train, test = dense[:40], dense[40:]
    shares = (train != 0).mean(axis=0)
    sizes = abs(train).sum(axis=0) / (train != 0).sum(axis=0)
    used = np.log(shares) + laplace.logpdf(test, scale=sizes)
    expected = -np.where(test != 0, used, np.log(1 - shares)).sum(axis=1)
    _, found = opinions.atypicality(csr_array(train), csr_array(test))
    np.testing.assert_allclose(found, expected)


def test_an_atom_that_nobody_used_is_atypical_but_finite():
    train, test = csr_array([[1.0, 0.0], [2.0, 0.0]]), csr_array([[1.0, 0.0], [1.0, 1.0]])
    _, (usual, unusual) = opinions.atypicality(train, test)
    assert usual < unusual < np.inf


def test_the_cheapest_design_as_good_as_the_best_is_chosen():
    figures = dict.fromkeys(map(str, ensemble.designs()), 0.9)
    figures[str(ensemble.Design(n_members=30))] = 0.95
    figures[str(ensemble.Design(n_members=12))] = 0.95 - ensemble.AS_GOOD / 2
    figures[str(ensemble.Design(scores=("error", "atoms")))] = 0.95
    assert ensemble.choose([figures]) == ensemble.Design(n_members=12)


def test_finished_figures_are_kept_and_other_settings_have_their_own(tmp_path):
    calls = []

    def compute():
        calls.append(1)
        return {"a": 0.5, "b": float(len(calls))}

    path = tmp_path / "new" / "wine-1"
    for _ in range(2):
        assert halves.kept(path, ("x", 1), compute) == {"a": 0.5, "b": 1.0}
    assert halves.kept(path, ("x", 2), compute)["b"] == 2.0


def test_rows_are_those_of_the_benchmark_and_halves_share_no_table(shared, monkeypatch, tmp_path):
    monkeypatch.setenv("SETATOMS_DATA", str(shared / "adbench"))
    (case, *_), others = halves.DESIGN.cases(quick=True), halves.CONFIRMATION.cases(quick=True)
    assert case.name not in {other.name for other in others}
    assert others
    first, again = (case.rows(tmp_path) for _ in range(2))
    np.testing.assert_array_equal(first.test, again.test)
    assert (tmp_path / "data" / f"{case.name}-dependency-{case.seed}.npz").exists()
