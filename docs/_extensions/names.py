"""Names in docstrings: which are links, what can be linked to, which members a class shows."""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cached_property
from pathlib import Path
from typing import Any

from docutils import nodes
from numpydoc.xref import DEFAULT_LINKS
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python import PyXRefRole
from sphinx.environment import BuildEnvironment


class MaybeLink(PyXRefRole):
    """A name between single backticks in a docstring: a link if the reference has it."""

    def process_link(
        self, env: BuildEnvironment, refnode: Any, has_title: bool, title: str, target: str
    ) -> tuple[str, str]:
        """Remember that it need not be one."""
        refnode["reftype"] = "obj"
        refnode["maybe"] = True
        return super().process_link(env, refnode, has_title, title, target)


def keep_as_text(
    _app: Sphinx, _env: BuildEnvironment, node: addnodes.pending_xref, contnode: nodes.Element
) -> nodes.Node | None:
    """Show a name that need not be a link as it is; any other that leads nowhere is an error."""
    if node.get("maybe"):
        return contnode
    # types of Python and NumPy, whose sites are beyond this one
    return nodes.Text(contnode.astext()) if node["reftarget"] in DEFAULT_LINKS else None


def anchor_entries(app: Sphinx, doctree: nodes.document) -> None:
    """Give every parameter and attribute a place to link to; those of classes are also names."""
    for desc in doctree.findall(addnodes.desc):
        signature = next(iter(desc.findall(addnodes.desc_signature)))
        if desc["domain"] != "py" or not signature["ids"]:
            continue
        owner = signature["ids"][0]
        for fields in desc[-1].children:
            if isinstance(fields, nodes.field_list):
                for term in fields.findall(nodes.term):
                    _anchor(app, term, owner, named=desc["objtype"] == "class")


def anchor_homes(_app: Sphinx, doctree: nodes.document) -> None:
    """Let links also find a name by the module that defines it, as those of its source do."""
    for signature in doctree.findall(addnodes.desc_signature):
        name = signature.get("fullname", "")
        if not signature.get("module") or "." in name:
            continue
        member = getattr(importlib.import_module(signature["module"]), name, None)
        home = f"{getattr(member, '__module__', signature['module'])}.{name}"
        if home not in signature["ids"]:
            signature["ids"].append(home)


def _anchor(app: Sphinx, term: nodes.term, owner: str, named: bool) -> None:
    """Give one entry, which may be of several names, its identifiers and a link to itself."""
    strong = next(iter(term.findall(nodes.strong)), None)
    if strong is None:
        return
    domain = app.env.domains.python_domain
    for name in strong.astext().split(", "):
        full = f"{owner}.{name}"
        if full in domain.objects:
            continue
        term["ids"].append(full)
        if named:
            domain.note_object(full, "attribute", full, location=term)
    if term["ids"]:
        link = nodes.reference("", "#", internal=True, refid=term["ids"][0])
        link["classes"].append("headerlink")
        term.append(link)


def list_public(modules: list[str]) -> dict[str, str]:
    """Return the full names of what modules offer, by their last parts; earlier modules win."""
    return {
        name: f"{module}.{name}"
        for module in modules[::-1]
        for name in getattr(importlib.import_module(module), "__all__", ())
    }


def link_names(app: Sphinx, doctree: nodes.document) -> None:
    """Make links of the names of classes and functions that pages in Markdown mention."""
    if Path(app.env.doc2path(app.env.docname)).suffix != ".md":
        return
    for literal in list(doctree.findall(nodes.literal)):
        if isinstance(literal.parent, nodes.title | nodes.reference | addnodes.pending_xref):
            continue
        name = literal.astext()
        # a short word in small letters is more often a folder or an option than a function
        if not re.fullmatch(r"setatoms(\.\w+)+|[A-Z]\w*[a-z]\w*|[a-z]\w*_\w*[^\W_]", name):
            continue
        link = addnodes.pending_xref(
            "",
            literal.deepcopy(),
            refdomain="py",
            reftype="obj",
            reftarget=app.config.public_names.get(name, name),
            refexplicit=True,
            refdoc=app.env.docname,
            maybe=True,
        )
        literal.replace_self(link)


def link_pages(app: Sphinx, doctree: nodes.document) -> None:
    """Make links of pages that docstrings and the change log name by their files."""
    for literal in list(doctree.findall(nodes.literal)):
        page = re.fullmatch(r"docs/([\w/-]+)\.md", literal.astext())
        if page is None or page[1] not in app.env.found_docs:
            continue
        link = addnodes.pending_xref(
            "",
            nodes.inline("", page[1]),
            refdomain="std",
            reftype="doc",
            reftarget=f"/{page[1]}",
            refexplicit=False,
            refdoc=app.env.docname,
            refwarn=True,
        )
        literal.replace_self(link)


def list_members(module: str, name: str) -> dict[str, list[str]]:
    """Return the public members of a class: of this library, and of those it builds on."""
    members = inspect.classify_class_attrs(getattr(importlib.import_module(module), name))
    public = [
        (key, home.__module__.split(".")[0])
        for key, kind, home, member in members
        if kind != "data" and not key.startswith("_") and member.__doc__
    ]
    return {
        "own": [
            # scikit-learn puts set_..._request into every class
            key
            for key, package in public
            if package == "setatoms" and not key.endswith("_request")
        ],
        "foreign": [key for key, package in public if package in ("sklearn", "pyod")],
        "properties": [
            key for key, *_, member in members if isinstance(member, property | cached_property)
        ],
    }


def list_classes(modules: list[str]) -> dict[str, dict[str, list[str]]]:
    """Return the members of all classes of some modules, by their full names."""
    return {
        f"{module.__name__}.{name}": list_members(module.__name__, name)
        for module in map(importlib.import_module, modules)
        for name in dir(module)
        if not name.startswith("_") and inspect.isclass(getattr(module, name))
    }


def hide_protocol_arguments(
    _app: Sphinx, what: str, _name: str, member: Any, _options: Any, _signature: Any, _returns: Any
) -> tuple[str, str] | None:
    """Show protocols, which nobody constructs, without ``(*args, **kwargs)``."""
    return ("", "") if what == "class" and getattr(member, "_is_protocol", False) else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the role and the handlers."""
    app.add_role_to_domain("py", "maybe", MaybeLink())
    app.add_config_value("public_names", {}, "env", dict)
    app.connect("missing-reference", keep_as_text)
    app.connect("autodoc-process-signature", hide_protocol_arguments)
    app.connect("doctree-read", anchor_entries)
    app.connect("doctree-read", anchor_homes)
    app.connect("doctree-read", link_names)
    app.connect("doctree-read", link_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
