"""Say why a row is abnormal: which columns, what was expected instead, and what would be normal."""

from setatoms.explain.counterfactual import (
    Counterfactual,
    check_count,
    replace_by_implied,
    replace_worst,
    score_replaced,
)
from setatoms.explain.evidence import KINDS, Evidence, Range
from setatoms.explain.explanation import Explanation, check_rank, check_top, explain_rows
from setatoms.explain.panel import Panel, mean_rows
from setatoms.explain.records import AtomRecord, ColumnRecord, RowRecord

__all__ = [
    "KINDS",
    "AtomRecord",
    "ColumnRecord",
    "Counterfactual",
    "Evidence",
    "Explanation",
    "Panel",
    "Range",
    "RowRecord",
    "check_count",
    "check_rank",
    "check_top",
    "explain_rows",
    "mean_rows",
    "replace_by_implied",
    "replace_worst",
    "score_replaced",
]
