"""``setatoms demo``."""

from __future__ import annotations

import click


@click.command("demo")
def command() -> None:
    """Detect injected anomalies in two real tables, beside four well-known detectors.

    The first run also compiles the library.
    """
    from setatoms import demo
    from setatoms.warm_up import compile_ahead

    compile_ahead()
    demo.run()
