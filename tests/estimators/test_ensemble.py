"""An ensemble is its members, combined as documented."""

from functools import partial

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import setatoms
from setatoms.decisions import RULES
from setatoms.estimators import members
from setatoms.estimators.members import BUDGETS, DIVERSITIES
from setatoms.estimators.recipes import SetAtomRecipe
from setatoms.learning.kinds import ConeAtoms, GaussianAtoms


def make(**parameters):
    """Return an ensemble that learns for a few iterations."""
    few = {"n_members": 4, "n_iter": 10, "contamination": 0.1, "random_state": 0}
    few["views"] = ("relation",)
    return setatoms.SetAtomEnsemble(**{**few, **parameters})


def errors_of(model, X):
    """Return the errors (n_members, n_samples) of rows without gaps."""
    Z = model.standardizer_.apply(X)
    return np.array([m.errors(Z) for m in model.members_])


def test_the_score_is_the_mean_of_the_smaller_half_of_the_errors_over_their_medians(rows):
    model = make(n_members=5).fit(rows)
    errors = errors_of(model, rows)
    ratios = np.sort(errors / np.median(errors, axis=1, keepdims=True), axis=0)
    np.testing.assert_allclose(model.score_samples(rows), -ratios[:3].mean(axis=0))


def test_the_first_members_do_not_depend_on_how_many_follow(rows):
    few, many = (make(n_members=n).fit(rows).members_ for n in (3, 5))
    for one, other in zip(few, many, strict=False):
        np.testing.assert_array_equal(one.atoms, other.atoms)
        np.testing.assert_array_equal(one.radii, other.radii)


@pytest.mark.parametrize("budget", BUDGETS)
def test_a_budget_is_a_number_of_members(budget, rows):
    model = make(budget=budget, n_members=None, n_iter=1, adapt_every=1).fit(rows)
    assert len(model.members_) == BUDGETS[budget]


def test_kinds_take_turns(rows):
    kinds = [type(member.kind) for member in make().fit(rows).members_]
    assert kinds == [GaussianAtoms, ConeAtoms, GaussianAtoms, ConeAtoms]
    (alone,) = {type(member.kind) for member in make(kinds=("cone",)).fit(rows).members_}
    assert alone is ConeAtoms


@pytest.mark.parametrize("diversity", DIVERSITIES)
def test_members_differ_in_what_diversity_says_and_always_in_their_start(diversity, rows):
    ensemble, varied = make(diversity=diversity, kinds=("gaussian",)), DIVERSITIES[diversity]
    recipes = members.ensemble_recipe(ensemble, 1200, 6).recipes
    assert ({recipe.n_atoms for recipe in recipes} == {36, 60}) == ("sizes" in varied)
    spreads = {round(float(recipe.rho_bar.mean()), 6) for recipe in recipes}
    assert (len(spreads) > 1) == ("radii" in varied)
    learned = ensemble.fit(rows).members_
    assert len({member.atoms.tobytes() for member in learned}) == len(learned)


@pytest.mark.filterwarnings("ignore:.*rows per atom")
@pytest.mark.parametrize("parameters", [{"subsample": 0.5}, {"missing": "fill"}])
def test_samples_and_gaps_give_the_same_bits_for_any_number_of_threads(parameters, rows):
    X = rows.copy()
    if "missing" in parameters:
        X[::3, 1] = np.nan
    one, two = (make(n_jobs=n_jobs, contamination="auto", **parameters).fit(X) for n_jobs in (1, 4))
    np.testing.assert_array_equal(one.score_samples(X), two.score_samples(X))
    assert one.offset_ == two.offset_


def test_members_of_a_large_table_learn_from_samples_of_their_own(rows, monkeypatch):
    learned_from = []

    def learn(recipe, rows, *_):
        learned_from.append((rows.n_rows, recipe.n_atoms, rows.table.tobytes()))
        return original(recipe, rows, *_)

    original = SetAtomRecipe.learn
    monkeypatch.setattr(SetAtomRecipe, "learn", learn)
    X = np.tile(rows, (10, 1)) + 0.01 * np.random.default_rng(0).normal(size=(3000, 6))
    monkeypatch.setattr(members, "_FEWEST_ROWS", 600)
    make(n_members=4).fit(X)
    # 6 and 10 atoms per feature, 15 rows for each of them, at least so many
    assert sorted(taken[:2] for taken in learned_from) == [(600, 36)] * 2 + [(900, 60)] * 2
    assert len({taken[2] for taken in learned_from}) == 4


def test_a_large_table_needs_no_second_fit_for_its_threshold(rows, monkeypatch):
    X = np.tile(rows, (20, 1)) + 0.01 * np.random.default_rng(0).normal(size=(6000, 6))
    fit = partial(make(contamination="auto").fit, X)
    scores = np.sort(fit().score_samples(X))
    np.testing.assert_array_equal(fit().calibration_scores_, scores)
    monkeypatch.setattr(members, "_SMALL_SHARE", 0.0)
    assert (fit().calibration_scores_ < scores).mean() > 0.5
    assert fit().offset_ == pytest.approx(np.quantile(scores, 0.05), rel=0.1)


def test_anomalies_among_few_training_rows_get_no_atoms_of_their_own(rows):
    X, rng = rows[:250].copy(), np.random.default_rng(1)
    X[:10] = np.column_stack([rng.permutation(column) for column in rows.T])[:10]
    model = setatoms.SetAtomEnsemble(budget="fast", contamination=0.1, random_state=0).fit(X)
    assert all(6 <= len(member.atoms) <= 12 for member in model.members_)
    assert roc_auc_score(np.arange(250) < 10, -model.score_samples(X)) > 0.9


def test_an_anomaly_among_many_training_rows_keeps_no_atom(rows):
    X = np.tile(rows, (4, 1)) + 0.01 * np.random.default_rng(0).normal(size=(1200, 6)) * rows.std(0)
    X[0, 2] += 30 * X[:, 2].std()
    model = setatoms.SetAtomEnsemble(budget="fast", contamination=0.1, random_state=0).fit(X)
    assert np.argmin(model.score_samples(X)) == 0
    axis = np.eye(6)[2]
    assert all(np.abs(member.atoms @ axis).max() < 0.95 for member in model.members_)


def test_fit_leaves_the_table_as_it_was(rows):
    X = rows.copy()
    X[::3, 1] = np.nan
    before = X.copy()
    make(missing="fill", standardize=False).fit(X)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_finds_broken_relations(rule, rows):
    model = make(rule=rule).fit(rows)
    rng = np.random.default_rng(0)
    broken = np.column_stack([rng.permutation(column) for column in rows.T])
    assert np.mean(model.predict(broken) == -1) > 0.5
    assert model.combination_.rule == rule


def test_imputed_values_are_the_mean_of_those_of_members(rows):
    X = rows[:30].copy()
    X[::2, 4] = np.nan
    model = make(missing="fill").fit(rows)
    Z = model._completed(model.standardizer_.apply(X), "values")
    expected = model.standardizer_.restore(np.mean(Z, axis=0))
    holes = np.isnan(X)
    np.testing.assert_allclose(model.impute(X)[holes], expected[holes])
    np.testing.assert_array_equal(model.impute(X)[~holes], X[~holes])
    spread = rows[:, 4].std()
    # three causes behind six columns tell the missing one
    assert np.sqrt(np.mean((model.impute(X) - rows[:30])[holes] ** 2)) < 0.6 * spread


def test_p_values_need_rows_outside_the_fit_or_auto(rows):
    with pytest.raises(ValueError, match="call calibrate"):
        make().fit(rows).p_values(rows)
    assert (make().fit(rows).calibrate(rows[:50]).p_values(rows) >= 1 / 51).all()


@pytest.mark.filterwarnings("ignore:.*rows per atom")
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"budget": "huge"}, "budget='huge' must be 'fast' or"),
        ({"n_members": 0}, "n_members=0 must be a whole number, at least 1, or None"),
        ({"kinds": ("vector",)}, "kinds=.*'cone', 'gaussian'"),
        ({"kinds": None}, "kinds=None must be a tuple of at least one"),
        ({"kinds": ([1],)}, "must be a tuple of at least one"),
        ({"kinds": ()}, "kinds=.*at least one"),
        ({"diversity": "none"}, "diversity='none'"),
        ({"rule": "sum"}, "rule='sum' must be 'lower-half' or"),
        ({"subsample": 0.0}, "subsample=0.0 must be a share"),
        ({"n_iter": 3}, "n_iter=3"),
    ],
)
def test_wrong_parameters_are_explained(parameters, message, rows):
    with pytest.raises(ValueError, match=message):
        make(**parameters).fit(rows)


def test_few_rows_are_warned_of_once(rows):
    with pytest.warns(UserWarning, match="rows per feature") as caught:
        make().fit(rows[:40])
    assert len(caught) == 1


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("n_rows", [400, 2000])
def test_two_columns_are_enough(budget, n_rows):
    # cones of ten atoms per feature would not fit side by side in a plane
    rng = np.random.default_rng(0)
    flow = rng.normal(size=n_rows)
    X = np.column_stack([flow, flow + 0.1 * rng.normal(size=n_rows)])
    model = setatoms.SetAtomEnsemble(budget=budget, random_state=0).fit(X)
    normal, broken = model.score_samples([[1.0, 1.0], [1.5, -1.5]])
    assert broken < normal
    assert model.predict([[1.5, -1.5]]) == -1
