"""Timings beside those of other packages."""
