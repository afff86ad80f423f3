"""What the library reaches: ``python -m benchmarks paper|speed|quality``."""
