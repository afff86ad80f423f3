"""Say why a row is abnormal: which columns, what was expected instead, and what would be normal."""

from setatoms.explain.counterfactual import Counterfactual, replace_worst
from setatoms.explain.dictionary import Dictionary
from setatoms.explain.explanation import Explanation, explain_rows
from setatoms.explain.panel import Panel, mean_rows
from setatoms.explain.records import AtomRecord, ColumnRecord, Record

__all__ = [
    "AtomRecord",
    "ColumnRecord",
    "Counterfactual",
    "Dictionary",
    "Explanation",
    "Panel",
    "Record",
    "explain_rows",
    "mean_rows",
    "replace_worst",
]
