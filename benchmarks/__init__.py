"""Timings of setatoms beside its peers: ``python -m benchmarks``."""
