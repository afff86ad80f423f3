"""Parameters are checked in fit; the error gives the value, the rule and the remedy."""

import warnings

import numpy as np
import pytest

from setatoms import (
    ConeAtomDetector,
    ConeDictionaryLearning,
    GaussianAtomDetector,
    GaussianDictionaryLearning,
    VectorAtomDetector,
)

ESTIMATORS = [
    ConeAtomDetector,
    ConeDictionaryLearning,
    GaussianAtomDetector,
    GaussianDictionaryLearning,
    VectorAtomDetector,
]
SET_ATOMS = ESTIMATORS[:4]

WRONG = [
    ("adapt", "l2", "'l1' or 'l0' or None"),
    ("adapt_every", 0, "at least 1"),
    ("cd_sweeps", -1, "at least 0"),
    ("contamination", 0.0, "above 0 and at most 0.5"),
    ("contamination", 0.6, "above 0 and at most 0.5"),
    ("contamination", "automatic", "'auto' or"),
    ("fit_max_sweeps", 0, "at least 1"),
    ("fit_tol", -1.0, "at least 0"),
    ("gamma", 0.0, "a positive number"),
    ("lam", np.inf, "a positive number"),
    ("learn", "yes", "True or False"),
    ("max_sweeps", 2.5, "a whole number"),
    ("min_separation", np.nan, "at least 0"),
    ("n_iter", 0, "at least 1"),
    ("n_iter", True, "a whole number"),
    ("n_jobs", 0, "-1 for all cores"),
    ("n_nonzero", 0, "at least 1"),
    ("rotation", "both", "'symmetric' or 'by-radius'"),
    ("sparse_output", 1, "True or False"),
    ("standardize", None, "True or False"),
    ("tol", "small", "at least 0"),
    ("verbose", -1, "a level from 0"),
]


@pytest.mark.parametrize(
    ("estimator", "name", "value", "rule"),
    [(e, *wrong) for e in ESTIMATORS for wrong in WRONG if wrong[0] in e().get_params()],
)
def test_a_wrong_value_is_refused_with_its_rule(estimator, name, value, rule, rows):
    with pytest.raises(ValueError, match=f"^{name}=.*{rule}"):
        estimator(**{name: value}).fit(rows)


@pytest.mark.parametrize("estimator", SET_ATOMS)
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"radii": (0.2, 0.1)}, "min above its max"),
        ({"radii": (0.1, np.inf)}, "must be finite"),
        ({"radii": (0.0, 0.1)}, "above 0 and below"),
        ({"radii": (0.1, 1.5)}, "above 0 and below"),
        ({"radii_distribution": "even"}, "not known"),
        ({"radii_distribution": [0.1, 0.2]}, "one radius per atom"),
        ({"n_iter": 5}, "raise n_iter or lower adapt_every"),
        ({"init": "svd"}, "'aksvd' or 'random', or an array"),
        ({"init": np.eye(6)}, r"init has shape \(6, 6\)"),
        ({"init": np.zeros((9, 6))}, "zero or not finite"),
        ({"init": 3}, "init has shape"),
        ({"init": {"a": 1}}, "neither a name nor an array"),
        ({"n_atoms": 0}, "raise n_atoms"),
    ],
)
def test_values_that_depend_on_the_table_are_refused(estimator, wrong, message, rows):
    with pytest.raises(ValueError, match=message):
        estimator(**{"n_atoms": 9, **wrong}).fit(rows)


def test_the_vector_detector_starts_at_random_or_from_given_atoms(rows):
    with pytest.raises(ValueError, match="init='aksvd' must be 'random'"):
        VectorAtomDetector(init="aksvd").fit(rows)


@pytest.mark.parametrize("estimator", [ConeAtomDetector, VectorAtomDetector])
@pytest.mark.filterwarnings("ignore:n_atoms=2 is below")
def test_more_nonzeros_than_atoms_are_refused(estimator, rows):
    with pytest.raises(ValueError, match="n_nonzero=3 exceeds the number of atoms, 2"):
        estimator(n_atoms=2, n_nonzero=3).fit(rows)


@pytest.mark.parametrize("estimator", [ConeAtomDetector, ConeDictionaryLearning])
@pytest.mark.filterwarnings("ignore:.*rows per atom", "ignore:n_nonzero=2 would represent")
def test_cones_that_cannot_be_disjoint_are_refused(estimator, rows):
    with pytest.raises(ValueError, match=r"n_atoms.*radii|radii.*n_atoms"):
        estimator(n_atoms=60, radii=(0.5, 0.6)).fit(rows[:, :2])


@pytest.mark.parametrize("estimator", [ConeAtomDetector, VectorAtomDetector])
def test_a_detector_leaves_one_dimension_for_the_error_and_says_so(estimator, rows):
    with pytest.warns(UserWarning, match="n_nonzero=9 .* uses 5"):
        detector = estimator(n_atoms=12, n_nonzero=9, random_state=0).fit(rows)
    assert detector.kind_.n_nonzero == 5
    assert detector.n_nonzero == 9


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_fewer_atoms_than_features_warn(estimator, rows):
    with pytest.warns(UserWarning, match=r"n_atoms=4 .* n_atoms=4\.0 gives 24 atoms"):
        estimator(n_atoms=4).fit(rows)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_few_rows_per_atom_warn_at_the_line_that_called_fit(estimator, rows):
    with pytest.warns(UserWarning, match="50 rows for 12 atoms") as caught:
        estimator(n_atoms=12).fit(rows[:50])
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_defaults_on_an_ordinary_table_do_not_warn(estimator, rows):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator(random_state=0).fit(rows)
    assert [str(warning.message) for warning in caught] == []


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_float_counts_atoms_per_feature(estimator, rows):
    assert estimator(n_atoms=1.25).fit(rows).components_.shape == (8, 6)
    assert estimator(n_atoms=np.int64(7)).fit(rows).components_.shape == (7, 6)
