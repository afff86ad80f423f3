"""``python -m setatoms`` is the command ``setatoms``."""

import sys

from setatoms.cli import main

sys.exit(main())
