"""Leave out examples in modules whose packages are not installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["benchmarks/paper/dagmm.py"]
