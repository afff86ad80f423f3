"""A group of commands, each imported when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed.

    Parameters
    ----------
    lines : mapping of str to str
        One line about each command, by its name, the first to meet first.
    place : str
        The module whose `command` it is, with ``{}`` for the name.
    **attributes
        Of any group.
    """

    def __init__(self, *, lines: Mapping[str, str], place: str, **attributes: Any) -> None:
        super().__init__(**attributes)
        self._lines = lines
        self._place = place

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, the first to meet first."""
        return list(self._lines)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in self._lines:
            return None
        command: click.Command = import_module(self._place.format(cmd_name)).command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command that the first word names, or name those that there are."""
        if args[0] not in self._lines and not args[0].startswith("-"):
            known = ", ".join(self._lines)
            raise click.UsageError(f"no command {args[0]!r}; there are {known}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._lines.items()))
