"""``setatoms completion``."""

from __future__ import annotations

import click

from setatoms.terminal import print_own


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    r"""Print a script that completes commands and options in SHELL.

    \b
    bash:  setatoms completion bash > ~/.local/share/bash-completion/completions/setatoms
    zsh:   setatoms completion zsh > ~/.zfunc/_setatoms     (a folder in $fpath)
    fish:  setatoms completion fish > ~/.config/fish/completions/setatoms.fish
    """
    from click.shell_completion import get_completion_class

    from setatoms.cli.root import setatoms

    complete = get_completion_class(shell)
    if complete is None:
        raise click.ClickException(f"this version of click knows no completion for {shell}")
    # the template itself: source() would first look for the shell
    script = complete(setatoms, {}, "setatoms", "_SETATOMS_COMPLETE")
    print_own(script.source_template % script.source_vars())
