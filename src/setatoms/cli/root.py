"""The commands, each in a module of its own that is imported when it is called."""

from __future__ import annotations

import click

from setatoms import __version__
from setatoms.cli.lazy import LazyGroup
from setatoms.cli.limits import prepare_memory

# Command -> one line about it; it is `command` in the module of its name.
_COMMANDS = {
    "detect": "Learn from a table and list its most anomalous rows.",
    "fit": "Learn from a table and save the model.",
    "score": "Score a table with a saved model.",
    "watch": "Score rows from standard input as they come.",
    "explain": "Explain one row by a saved model.",
    "info": "Say what a saved model is.",
    "demo": "Detect injected anomalies in two real tables, beside four well-known detectors.",
    "completion": "Print a script that completes commands in a shell.",
}
# These load neither NumPy nor Numba.
_LIGHT = ("info", "completion")
_EPILOG = (
    "Exit status: 0 success, 1 error, 2 wrong usage, 3 rows flagged (with --exit-code), "
    "130 interrupted, 129, 141 and 143 ended by SIGHUP, SIGPIPE and SIGTERM."
)


@click.group(
    cls=LazyGroup,
    lines=_COMMANDS,
    place="setatoms.cli.{}",
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="setatoms", message="%(prog)s %(version)s")
@click.pass_context
def setatoms(context: click.Context) -> None:
    """Find rows whose features look normal one by one while the relations between them are broken.

    Begin with: setatoms detect DATA.csv
    """
    if context.invoked_subcommand not in _LIGHT:
        prepare_memory()
