"""How Sphinx builds the site: ``make docs``."""

from __future__ import annotations

import sys
from pathlib import Path

from numpydoc.xref import DEFAULT_LINKS

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "src"), str(HERE / "_extensions")]

import names  # noqa: E402

import setatoms  # noqa: E402

DOCUMENTED = [
    "setatoms",
    "setatoms.datasets",
    "setatoms.decisions",
    "setatoms.estimators.choosing",
    "setatoms.explain",
    "setatoms.learning",
    "setatoms.persistence",
    "setatoms.pyod",
    "setatoms.streams",
    "setatoms.views",
]

project = "setatoms"
author = "setatoms developers"
copyright = author  # noqa: A001
version = release = setatoms.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "links",
    "names",
    "pages",
]
exclude_patterns = ["gallery/**", "images/**", "_templates/**"]
templates_path = ["_templates"]
nitpicky = True

# Pages.
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath", "substitution"]
myst_substitutions = {"version": version}
myst_heading_anchors = 4
highlight_language = "text"
mathjax_path = "mathjax/tex-chtml-full.js"  # copied from a package, see pages.py
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# The reference. Types stand in the docstrings; `name` in one is a link where there is such a name.
autodoc_typehints = "none"
autosummary_context = {
    "listed": names.list_classes(DOCUMENTED),
    "gallery": (HERE / "gallery").is_dir(),
}
autosummary_generate_overwrite = True
default_role = "py:maybe"
maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
public_names = names.list_public(DOCUMENTED)
numpydoc_xref_aliases = {name: name for name in DEFAULT_LINKS} | public_names

# The look.
html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}
html_title = "setatoms"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["search.js", ("tables.js", {"defer": "defer"})]
html_favicon = html_logo = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {
    name: [] for name in ("index", "start", "method", "changelog", "citing", "contributing")
}
html_theme_options = {
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "header_links_before_dropdown": 6,
    "logo": {"text": "setatoms", "alt_text": ""},
    "navbar_align": "left",
    "navigation_with_keys": False,
    "pygments_dark_style": "a11y-dark",
    "pygments_light_style": "a11y-high-contrast-light",
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
}

if (HERE / "gallery").is_dir():
    extensions.append("sphinx_gallery.gen_gallery")
    sphinx_gallery_conf = {
        "examples_dirs": "gallery",
        "gallery_dirs": "generated/gallery",
        "backreferences_dir": "generated/backreferences",
        "doc_module": ("setatoms",),
        "reference_url": {"setatoms": None},
        "filename_pattern": r"\.py$",
        "within_subsection_order": "pages.StoryOrder",
        "remove_config_comments": True,
        "show_memory": False,
        "show_signature": False,
        "write_computation_times": False,
    }
