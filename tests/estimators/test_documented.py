"""Parameters are written once, and every class documents its own."""

import inspect
import subprocess
import sys

import numpy as np
import pytest

import setatoms

ESTIMATORS = [
    name for name in setatoms.__all__ if name.endswith(("Detector", "Learning", "Ensemble"))
]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_is_documented_with_its_default(name):
    cls = getattr(setatoms, name)
    for parameter in inspect.signature(cls).parameters.values():
        lines = [line for line in cls.__doc__.split("\n") if line.startswith(f"{parameter.name} :")]
        assert len(lines) == 1
        shown = lines[0].partition("default=")[2].replace("'", '"').replace("_", "")
        assert shown == repr(parameter.default).replace("'", '"').replace("_", "")


def test_a_class_says_more_of_a_parameter_than_its_bases():
    assert "at most one fewer than features" in setatoms.ConeAtomDetector.__doc__
    assert "at most one fewer than features" not in setatoms.ConeDictionaryLearning.__doc__


def test_there_are_estimators_without_documentation():
    program = "import setatoms; print(setatoms.SetAtomEnsemble(budget='fast'))"
    done = subprocess.run(
        [sys.executable, "-OO", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "SetAtomEnsemble(budget='fast')\n"


def test_what_was_learned_cannot_be_written_to():
    rows = np.random.default_rng(0).normal(size=(100, 3))
    model = setatoms.VectorAtomDetector(random_state=0, n_atoms=4).fit(rows)
    with pytest.raises(ValueError, match="read-only"):
        model.components_[0] = 0.0
