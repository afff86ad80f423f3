"""How fast streams are followed, and what survives."""
