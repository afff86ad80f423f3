"""Leave out what cannot be imported, where a package is missing, and what makes the site."""

from importlib.util import find_spec

collect_ignore = ["docs/_extensions", "docs/conf.py", "docs/gallery", "docs/generated"]

if find_spec("torch") is None:
    collect_ignore.append("benchmarks/paper/dagmm.py")

if find_spec("atheris") is None:  # has wheels for Linux alone
    collect_ignore.append("tests/fuzz/run.py")

if find_spec("dask") is None:
    collect_ignore += [
        "docs/scale.md",
        "src/setatoms/estimators/dask_tables.py",
        "src/setatoms/rows/dask.py",
    ]

if find_spec("fcntl") is None:  # Windows: no file locks, limits on resources or pseudo-terminals
    collect_ignore += [
        "benchmarks",
        "tests/benchmarks",
        "tests/cli/test_limits.py",
        "tests/cli/test_terminal.py",
        "tests/persistence/test_atomic.py",
    ]
