"""The parts of the soak import one another by their plain names, as its command does."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
