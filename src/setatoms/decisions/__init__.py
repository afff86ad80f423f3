"""From scores to decisions: thresholds, p-values, and lists with few false alarms."""

from setatoms.decisions.batches import LEVELS, BatchComparison, BatchCounts, profile
from setatoms.decisions.combining import RULES, Combination, PerFeature
from setatoms.decisions.conformal import conformal_p_values
from setatoms.decisions.discoveries import (
    PValueCounts,
    benjamini_hochberg,
    benjamini_hochberg_cut,
    check_level,
)
from setatoms.decisions.thresholds import (
    UNSEEN_SHARE,
    CrossFitted,
    bulk_quantile,
    cross_fit,
    draw_halves,
    share_offset,
    unseen_errors,
    unseen_offset,
    unseen_quantile,
    unseen_scores,
)

__all__ = [
    "LEVELS",
    "RULES",
    "UNSEEN_SHARE",
    "BatchComparison",
    "BatchCounts",
    "Combination",
    "CrossFitted",
    "PValueCounts",
    "PerFeature",
    "benjamini_hochberg",
    "benjamini_hochberg_cut",
    "bulk_quantile",
    "check_level",
    "conformal_p_values",
    "cross_fit",
    "draw_halves",
    "profile",
    "share_offset",
    "unseen_errors",
    "unseen_offset",
    "unseen_quantile",
    "unseen_scores",
]
