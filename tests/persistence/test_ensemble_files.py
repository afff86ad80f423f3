"""A file cannot hold an ensemble whose parts do not fit together."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

import setatoms
from setatoms.decisions import Combination
from setatoms.learning.kinds import VectorAtoms
from setatoms.persistence import ModelFileError, read_header
from setatoms.persistence.models import read_model


@pytest.fixture
def ensemble(models):
    """Return a fitted ensemble to be tampered with."""
    return copy.copy(models["SetAtomEnsemble"])


def test_many_members_are_saved(tmp_path):
    rows = np.random.default_rng(0).normal(size=(60, 2))
    many = setatoms.SetAtomEnsemble(
        n_members=130, n_atoms=3, n_iter=1, adapt_every=1, contamination=0.1, random_state=0
    ).fit(rows)
    many.save(tmp_path / "model")
    loaded = setatoms.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.score_samples(rows), many.score_samples(rows))


def with_first(ensemble, **parts):
    """Return the members with other parts in the first."""
    return (replace(ensemble.members_[0], **parts), *ensemble.members_[1:])


@pytest.mark.parametrize(
    ("tamper", "message"),
    [
        (lambda _: {"members_": ()}, "members_ is not a tuple of at least one FittedDictionary"),
        (lambda e: {"members_": list(e.members_)}, "members_ is not a tuple"),
        (lambda _: {"members_": (1.0,)}, "members_ is not a tuple"),
        (
            lambda e: {
                "members_": with_first(e, kind=VectorAtoms(2), radii=0 * e.members_[0].radii)
            },
            r"members_\[0\].kind is a VectorAtoms, not ConeAtoms or GaussianAtoms",
        ),
        (
            lambda e: {"members_": with_first(e, atoms=2 * e.members_[0].atoms)},
            r"members_\[0\].atoms has rows that are not unit vectors",
        ),
        (
            lambda e: {"members_": with_first(e, radii=e.members_[0].radii[:-1])},
            r"members_\[0\].radii has shape",
        ),
        (lambda e: {"members_": with_first(e, history=None)}, r"members_\[0\].history is not"),
        (
            lambda e: {"combination_": Combination("mean", e.combination_.units[:-1])},
            "combination_.units has shape",
        ),
        (
            lambda e: {"combination_": Combination("mean", -e.combination_.units)},
            "combination_.units has values that are not positive",
        ),
        (
            lambda e: {"combination_": Combination("sum", e.combination_.units)},
            "rule=.*sum.* must be",
        ),
        (lambda _: {"combination_": None}, "combination_ is not a Combination"),
    ],
)
def test_an_ensemble_that_does_not_fit_together_is_not_saved(tamper, message, ensemble, tmp_path):
    vars(ensemble).update(tamper(ensemble))
    with pytest.raises(ModelFileError, match=message):
        ensemble.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("part", ["kind", "atoms", "radii", "history"])
def test_a_member_without_a_part_is_not_loaded(part, ensemble, tmp_path, forged):
    ensemble.save(tmp_path / "model")
    header, arrays = read_model(tmp_path / "model")
    del header["attributes"]["members_"][1]["fields"][part]
    arrays = {k: v for k, v in arrays.items() if not k.startswith(f"members_.1.{part}")}
    with pytest.raises(ModelFileError, match="a FittedDictionary without all its fields"):
        setatoms.load(forged(header, arrays))


def test_the_header_sums_up_the_members(ensemble, tmp_path):
    ensemble.save(tmp_path / "model")
    training = read_header(tmp_path / "model")["training"]
    last = [member.history.error[-1] for member in ensemble.members_]
    assert training == {"n_rows": 300, "iterations": 20, "error": pytest.approx(np.mean(last))}
