"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime

_EXACT = 1e15
_MOST_DECIMALS = 8
_FINEST_PERCENT = 0.01


def number(value: float, digits: int = 4) -> str:
    """Return a number with at most so many significant digits, whole ones in full.

    Examples
    --------
    >>> number(1680.0), number(0.123456), number(1.5e-7)
    ('1680', '0.1235', '1.5e-07')
    """
    if value == round(value, 0) and abs(value) < _EXACT:
        return str(int(value))
    return f"{value:.{digits}g}"


def measure(value: float | None, scale: float) -> str:
    """Return a value to a hundredth of the scale on which it varies.

    Examples
    --------
    >>> measure(23.03512, 5.2), measure(1433.2, 120.0), measure(5.0, 1.2), measure(None, 1.0)
    ('23.04', '1433', '5', 'missing')
    """
    if value is None or math.isnan(value):
        return "missing"
    decimals = 2 - math.floor(math.log10(scale)) if 0 < scale < math.inf else 3
    if abs(value) >= _EXACT or decimals > _MOST_DECIMALS:
        return f"{value:.4g}"
    text = f"{value:.{max(decimals, 0)}f}"
    if float(text) == 0 and value != 0:
        return f"{value:.2g}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def score_text(score: float) -> str:
    """Return a score so that scores below one another compare at a glance.

    Examples
    --------
    >>> score_text(0.92), score_text(12.345), score_text(4321.0)
    ('0.920', '12.3', '4321')
    """
    return f"{score:#.3g}" if abs(score) < 100 else number(score)


def count(value: int) -> str:
    """Return a whole number with its thousands apart.

    Examples
    --------
    >>> count(12345)
    '12,345'
    """
    return f"{value:,}"


def percent(share: float) -> str:
    r"""Return a share in percent: finer where it is small.

    Examples
    --------
    >>> percent(0.5), percent(0.0512), percent(0.0004), percent(1e-7)
    ('50\xa0%', '5.1\xa0%', '0.04\xa0%', '<0.01\xa0%')
    """
    value = 100 * share
    if 0 < value < _FINEST_PERCENT:
        return f"<{_FINEST_PERCENT}\u00a0%"
    if value == 0 or value >= 10:
        return f"{value:.0f}\u00a0%"
    return f"{value:.1f}\u00a0%" if value >= 1 else f"{value:.1g}\u00a0%"


def rounded(value: float | None, digits: int = 4) -> float | None:
    """Return a number with few digits, as JSON takes it: None where it is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


def short(rows: int) -> str:
    """Return a round number of rows in few characters.

    Examples
    --------
    >>> short(500), short(2_000_000)
    ('500', '2M')
    """
    for unit, name in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if rows >= unit:
            return f"{rows / unit:g}{name}"
    return str(rows)


def moment(time: float) -> str:
    """Return seconds since 1970 as a date and a time of day.

    Examples
    --------
    >>> moment(0.0)
    '1970-01-01 00:00'
    """
    try:
        return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return f"{time:.4g}"


FILTERS: dict[str, Callable[..., str]] = {
    "exact": lambda value: f"{value:.10g}",
    "moment": moment,
    "number": number,
    "percent": percent,
    "px": lambda value: f"{value:.1f}",
    "score": score_text,
    "short": short,
    "thousands": count,
}
