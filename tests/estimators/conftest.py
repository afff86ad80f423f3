"""A small table with structure: three hidden causes behind six features."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def rows():
    """Return 300 normal rows (300, 6) of different scales."""
    rng = np.random.default_rng(7)
    causes = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 6))
    return (causes + 0.1 * rng.normal(size=(300, 6))) * [1, 10, 0.1, 5, 2, 1] + [0, 3, 1, -9, 0, 5]
