"""The commands, each in a module of its own that is imported when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from setatoms import __version__
from setatoms.cli.limits import prepare_memory

# Command -> one line about it; it is `command` in the module of its name.
_COMMANDS = {
    "detect": "Learn from a table and list its most anomalous rows.",
    "fit": "Learn from a table and save the model.",
    "score": "Score a table with a saved model.",
    "explain": "Explain one row by a saved model.",
    "info": "Say what a saved model is.",
    "demo": "Detect injected anomalies in two real tables, beside four well-known detectors.",
    "bench": "Reproduce the paper's benchmark, or run a part of it.",
    "completion": "Print a script that completes commands in a shell.",
}
# These load neither NumPy nor Numba.
_LIGHT = ("info", "completion")
_EPILOG = (
    "Exit status: 0 success, 1 error, 2 wrong usage, 3 rows flagged (with --exit-code), "
    "130 interrupted, 129, 141 and 143 ended by SIGHUP, SIGPIPE and SIGTERM."
)


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, the first to meet first."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"setatoms.cli.{cmd_name}").command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command that the first word names, or name those that there are."""
        if args[0] not in _COMMANDS and not args[0].startswith("-"):
            known = ", ".join(_COMMANDS)
            raise click.UsageError(f"no command {args[0]!r}; there are {known}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(
    cls=LazyGroup,
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
