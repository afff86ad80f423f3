"""What ends a run, as opposed to what makes one cell fail."""


class BenchError(RuntimeError):
    """The run cannot go on; the message says why and what to do. Finished cells are kept."""
