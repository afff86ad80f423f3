"""Put a page together from its parts, and write it whole or not at all."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from string import Template

from setatoms.persistence.atomic import replacing
from setatoms.webpage.safety import content_policy


def read_part(package: str, *names: str) -> str:
    """Return the text of a file that a package carries, line ends as in Unix."""
    return resources.files(package).joinpath(*names).read_text(encoding="utf-8")


def assemble(
    template: str, *, style: str, script: str = "", inline_styles: bool = False, **parts: str
) -> str:
    """Return a template filled with its parts, all of them HTML already.

    Parameters
    ----------
    template : str
        A page with ``$policy``, ``$style``, ``$script`` and a ``$name`` for each other part.
    style, script : str
        What stands inside these two elements; the common part is put before it. No other script
        runs on the page.
    inline_styles : bool, default=False
        Whether other styles count.
    **parts : str
        The other parts.
    """
    all_style = f"\n{read_part('setatoms.webpage', 'base.css')}{style}"
    all_script = f"\n{read_part('setatoms.webpage', 'sort.js')}{script}"
    policy = content_policy(all_style, all_script, inline_styles=inline_styles)
    return Template(template).substitute(parts, policy=policy, style=all_style, script=all_script)


def write_page(path: str | Path, text: str) -> Path:
    """Write a page under its name in one step, so that no one ever finds half of it.

    Parameters
    ----------
    path : path-like
        The page; its folder is made if missing.
    text : str
        The page's text.

    Returns
    -------
    Path
        The page.
    """
    page = Path(path)
    page.parent.mkdir(parents=True, exist_ok=True)
    with replacing(page) as stream:
        stream.write(text.encode())
    return page
