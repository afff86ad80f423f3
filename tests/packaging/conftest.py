"""Let tests import what lies beside them, as it is run by itself."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
