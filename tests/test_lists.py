"""Lists that stand in two places, because one must not import the other, are the same."""

from setatoms.cli.options import KINDS as KINDS_OF_OPTIONS
from setatoms.cli.options import METHODS
from setatoms.explain import KINDS
from setatoms.explain.evidence import VIEW_NAMES
from setatoms.learning import KINDS as KINDS_OF_ATOMS
from setatoms.views import VIEWS


def test_kinds_of_faults_on_the_command_line_are_those_of_explanations():
    assert KINDS_OF_OPTIONS == KINDS


def test_views_in_explanations_are_those_of_scores():
    assert VIEW_NAMES == VIEWS


def test_every_kind_of_atoms_is_a_method_of_the_command_line():
    assert {*KINDS_OF_ATOMS, "ensemble"} == {*METHODS}
