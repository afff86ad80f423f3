"""What the tests of datasets share."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from types import ModuleType

import pytest


@pytest.fixture
def require() -> Callable[[str], ModuleType]:
    """Return a function that imports an optional package; without it CI fails, others skip."""

    def import_or_skip(name: str) -> ModuleType:
        try:
            return importlib.import_module(name)
        except ImportError:
            reason = f'{name} is not installed; pip install "setatoms[bench]"'
        if os.environ.get("SETATOMS_CI") == "1":
            pytest.fail(reason)
        pytest.skip(reason)

    return import_or_skip
