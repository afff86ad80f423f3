"""What pages need beside Sphinx: some may be missing, examples are tidied, MathJax is copied."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.fileutil import copy_asset

# Pages that the front page leads to where they are.
SOMETIMES = ("start", "howto/index", "method", "generated/gallery/index")


def leave_out_missing(app: Sphinx, docname: str, source: list[str]) -> None:
    """Take pages that are not there from the front page: the gallery may be left out."""
    if docname == app.config.root_doc:
        for page in set(SOMETIMES) - app.env.found_docs:
            card = rf":::{{grid-item-card}} [^\n]*\n:link: {page}\n.*?\n:::\n"
            source[0] = re.sub(card, "", source[0], flags=re.DOTALL)
            source[0] = re.sub(rf"^[^\n]* <{page}>\n", "", source[0], flags=re.MULTILINE)


def strip_blocks(_app: Sphinx, doctree: nodes.document) -> None:
    """Take the empty line from the ends of examples, where doctest needs it."""
    for block in doctree.findall(nodes.literal_block):
        if block.rawsource == block.astext():
            block.rawsource = block.rawsource.rstrip("\n")
            block.children = [nodes.Text(block.rawsource)]


def copy_mathjax(app: Sphinx, exception: Exception | None) -> None:
    """Put MathJax into the site, so that equations need no network."""
    package = importlib.util.find_spec("sphinx-mathjax-offline")
    if exception is None and package is not None and package.origin is not None:
        files = Path(package.origin).parent / "static" / "mathjax"
        goal = Path(app.outdir) / "_static" / "mathjax"
        fonts = "output/chtml/fonts/woff-v2"
        copy_asset(files / Path(app.config.mathjax_path).name, goal)
        copy_asset(files / fonts, goal / fonts)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the handlers."""
    app.connect("source-read", leave_out_missing)
    app.connect("doctree-read", strip_blocks)
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
