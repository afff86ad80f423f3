"""How large a fitted estimator is, for its form in a notebook."""

from __future__ import annotations

from collections import Counter
from typing import Any

from setatoms.markup import escaped


def fitted_sizes(estimator: Any) -> dict[str, str]:
    """Return what a fitted estimator consists of, in words; nothing before it is fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms import VectorAtomDetector
    >>> X = np.random.default_rng(0).normal(size=(400, 3))
    >>> sizes = fitted_sizes(VectorAtomDetector(n_atoms=9, random_state=0).fit(X))
    >>> sizes["columns"], sizes["atoms"]
    ('3', '9 vector')
    >>> fitted_sizes(VectorAtomDetector())
    {}
    """
    if not hasattr(estimator, "dictionaries_"):
        return {}
    sizes = {"rows": _rows(estimator), "columns": f"{estimator.n_features_in_:,}"}
    if hasattr(estimator, "members_"):
        sizes["members"] = _count_kinds(estimator.dictionaries_, lambda _: 1)
    sizes["atoms"] = _count_kinds(estimator.dictionaries_, lambda each: len(each.atoms))
    if hasattr(estimator, "offset_"):
        sizes["threshold"] = f"score_samples below {estimator.offset_:.4g} is flagged"
    return sizes


def sizes_html(estimator: Any) -> str:
    """Return a table of `fitted_sizes`, or nothing."""
    lines = "".join(
        f'<tr><th scope="row" style="text-align:left">{escaped(name)}</th>'
        f'<td style="text-align:left">{escaped(words)}</td></tr>'
        for name, words in fitted_sizes(estimator).items()
    )
    caption = '<caption style="text-align:left">Fitted</caption>'
    return f"<table>{caption}<tbody>{lines}</tbody></table>" if lines else ""


def _rows(estimator: Any) -> str:
    rows = f"{estimator.n_samples_fit_:,}"
    screened = getattr(estimator, "n_screened_", 0)
    return f"{rows}, {screened:,} of them left out of learning" if screened else rows


def _count_kinds(dictionaries: Any, count: Any) -> str:
    """Return what `count` gives for all dictionaries, and for each kind of atoms."""
    counts: Counter[str] = Counter()
    for each in dictionaries:
        counts[each.kind.name] += count(each)
    if len(counts) == 1:
        ((kind, number),) = counts.items()
        return f"{number:,} {kind}"
    parts = ", ".join(f"{number:,} {kind}" for kind, number in counts.items())
    return f"{counts.total():,}: {parts}"
