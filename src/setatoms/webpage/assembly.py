"""Fill templates, in which everything is escaped, and write pages whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setatoms.markup import printable, visible
from setatoms.persistence.atomic import replacing
from setatoms.webpage.safety import content_policy, embed_json

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def templates(package: str) -> Environment:
    """Return the templates in a package's folder ``templates``.

    What they are filled with is escaped. The filter ``visible`` cuts a text, ``json`` is for data
    inside a script.
    """
    try:
        import jinja2
        import markupsafe
    except ImportError as error:
        raise ImportError('HTML pages need Jinja2: pip install "setatoms[cli]"') from error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # what else claims to be HTML is words
        finalize=lambda value: value if type(value) is markupsafe.Markup else printable(value),
    )
    environment.filters["visible"] = visible
    environment.filters["json"] = lambda value: markupsafe.Markup(embed_json(value))
    return environment


def fill_page(
    package: str,
    *,
    style: str,
    script: str = "",
    inline_styles: bool = False,
    filters: Mapping[str, Callable[..., str]] | None = None,
    **values: Any,
) -> str:
    """Return the page that a package's ``report.html`` becomes with these values.

    Parameters
    ----------
    package : str
        The package whose template it is; ``policy``, ``style`` and ``script`` are among its names.
    style, script : str
        Files beside the template to put inside these two elements, after what all pages share. No
        other script runs on the page.
    inline_styles : bool, default=False
        Whether other styles count.
    filters : mapping or None
        Functions that the template writes values with.
    **values : object
        What the template is filled with.
    """
    environment = templates(package)
    environment.filters.update(filters or {})
    all_style = f"\n{_read('setatoms.webpage', 'base.css')}{_read(package, style)}"
    all_script = f"\n{_read('setatoms.webpage', 'sort.js')}{_read(package, script)}"
    policy = content_policy(all_style, all_script, inline_styles=inline_styles)
    page = environment.get_template("report.html")
    return page.render(values, policy=policy, style=all_style, script=all_script)


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


def _read(package: str, name: str) -> str:
    """Return the text of a file in a package's ``templates``, line ends as in Unix."""
    if not name:
        return ""
    return resources.files(package).joinpath("templates", name).read_text(encoding="utf-8")
