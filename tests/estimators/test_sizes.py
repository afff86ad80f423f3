"""How many atoms a table gets, and what is said of it."""

from __future__ import annotations

import re
import warnings

import pytest

from setatoms.estimators.sizes import count_checked_atoms


def test_who_follows_the_warning_on_wide_tables_is_not_warned_again() -> None:
    with pytest.warns(UserWarning, match="X has 400 features") as caught:
        count_checked_atoms(3.0, 2000, 400)
    advised = re.search(r"(\d+) or less for 10 rows per atom", str(caught[0].message))
    assert advised is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert count_checked_atoms(int(advised[1]), 2000, 400) == 200


def test_fewer_atoms_than_features_are_questioned_in_narrow_tables() -> None:
    with pytest.warns(UserWarning, match="n_atoms=3 is below the number of features, 8"):
        count_checked_atoms(3, 2000, 8)
