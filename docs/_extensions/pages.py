"""What pages need beside Sphinx: tidied examples, lines broken at good places, MathJax copied."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.fileutil import copy_asset

# Pages that the front page leads to where they are.
SOMETIMES = ("start", "howto/index", "method", "generated/gallery/index")

# Where a long name may continue on the next line: after punctuation and between words.
BREAKS = re.compile(r"(?<=[\w)\]])(::|[_/.,(=|])(?=\w)|(?<=[A-Za-z])(?=[A-Z][a-z])")
# Shorter names break in the tables of phones only, see site.css.
LONG_NAME = 24

# The gallery in the order in which it is read: finding and explaining, deciding, kinds of tables,
# the method. Others come last.
STORIES = (
    "four_detectors",
    "explanation_and_truth",
    "counterfactual",
    "choosing_views",
    "threshold",
    "missing_values",
    "time_series_windows",
    "digits_patches",
    "drift",
    "model_in_production",
    "atoms_in_space",
    "what_radii_learn",
    "ensemble_opinions",
    "choosing_parameters",
)


class StoryOrder:
    """The key by which sphinx-gallery sorts examples of a folder."""

    def __init__(self, _folder: str) -> None:
        pass

    def __call__(self, file: str) -> tuple[int, str]:
        """Return the place of an example in `STORIES`, and its name."""
        name = Path(file).stem.removeprefix("plot_")
        return STORIES.index(name) if name in STORIES else len(STORIES), name


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


def keep_signs(_app: Sphinx, doctree: nodes.document) -> None:
    """Keep a percent sign, or one of comparison, on the line of its number."""
    for text in list(doctree.findall(nodes.Text)):
        if text.parent is None or isinstance(text.parent, (nodes.FixedTextElement, nodes.literal)):
            continue
        kept = re.sub(r"(?<=\d) (?=%)|(?<=[≤≥]) (?=\d)", "\N{NO-BREAK SPACE}", text)
        if kept != text:
            text.parent.replace(text, nodes.Text(kept))


def break_names(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: Any
) -> None:
    """Let long names in sentences, tables and titles break between their parts."""

    def mark(found: re.Match[str]) -> str:
        name = found[2]
        tag = "<wbr>" if len(name) > LONG_NAME else '<wbr class="short">'
        return found[1] + BREAKS.sub(lambda place: (place[1] or "") + tag, name) + found[3]

    def mark_title(found: re.Match[str]) -> str:
        return BREAKS.sub(r"\1<wbr>", found[0])

    for neighbour in (context.get("prev"), context.get("next")):
        if neighbour:
            neighbour["title"] = re.sub(r"^\w{12,}$", mark_title, neighbour["title"])
    if "body" in context:
        # beside a name in a list of the reference, arguments may stand on several lines
        listed = re.sub(
            r"(?<=</a>)\([^<]*\)(?=</p></td>)",
            lambda found: "<wbr>" + found[0].replace("\N{NO-BREAK SPACE}", " "),
            context["body"],
        )
        titled = re.sub(r"(?<=<h1>)\w{12,}(?=<)", mark_title, listed)
        # a signature that is too long continues after its module and its bracket
        places = r'(?=<span class="sig-name)|(?<=<span class="sig-paren">\()(?=</span>)'
        signed = re.sub(places, "<wbr>", titled)
        context["body"] = re.sub(r'(<span class="pre">)([^<]{12,})(</span>)', mark, signed)


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
    app.connect("doctree-read", keep_signs)
    app.connect("html-page-context", break_names)
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
