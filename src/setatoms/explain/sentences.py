"""Put what is wrong with a row into one line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from setatoms.explain.records import ColumnRecord

# Where a number is written without an exponent.
_LEAST_PLAIN, _MOST_PLAIN = 1e-4, 1e9
# Shares below this are not worth a mention, unless nothing else is.
_WORTH_SAYING = 0.005
_ROUNDING = 1e-12
# Numbers that are closer, relative to their size, are the same to single precision.
_ALIKE = 1e-7
NOTHING_UNUSUAL = "as expected in every column"


def write_sentence(columns: Sequence[ColumnRecord], score: float) -> str:
    """Return one line on the `columns` of a row, most responsible first.

    Examples
    --------
    >>> column = {"column": "petal_width", "observed": 0.2, "expected": 1.87, "contribution": 0.71}
    >>> write_sentence([column], score=1.3)
    'petal_width 0.2 where 1.9 was expected (71 %)'
    >>> seen = {"represented": 150.0, "least": 20.0, "most": 75.0}
    >>> column = {"column": "temp", "observed": 167.0, "expected": 48.2, "contribution": 1.0}
    >>> write_sentence([column | seen], score=23.0)
    'temp 167: largest seen 75; the others imply 48'
    """
    if score == 0:
        return NOTHING_UNUSUAL
    said = [
        _clause(column, score)
        for place, column in enumerate(columns)
        if place == 0 or _share(column, score) >= _WORTH_SAYING
    ]
    return ", ".join(said)


def _share(column: ColumnRecord, score: float) -> float:
    return column["drop"] / score if "drop" in column else column["contribution"]


def _clause(column: ColumnRecord, score: float) -> str:
    name = _in_line(column["column"])
    if _is_outside(column):
        return _outside_clause(name, column)
    expected = column.get("implied", column["expected"])
    if column["observed"] is None:
        return f"{name} missing, {write_pair(expected, expected)[0]} expected"
    scale = max(abs(column.get("least", 0.0)), abs(column.get("most", 0.0)))
    observed_text, expected_text = write_pair(column["observed"], expected, scale)
    percent = 100 * _share(column, score)
    implied = "drop" in column or "represented" in column
    share = f"score {-percent:+.0f} %" if "drop" in column else f"{percent:.0f} %"
    if observed_text == expected_text:
        source = "the others imply" if implied else "expected"
        return f"{name} {observed_text}, as {source} ({share})"
    if implied:
        return f"{name} {observed_text} where the others imply {expected_text} ({share})"
    return f"{name} {observed_text} where {expected_text} was expected ({share})"


@lru_cache
def _in_line(name: str) -> str:
    """Return a name, which may hold line breaks, as a sentence can."""
    return " ".join(name.split()) or repr(name)


def _is_outside(column: ColumnRecord) -> bool:
    """Tell whether a value is beyond all that was learned from."""
    observed = column["observed"]
    if observed is None or "least" not in column or "most" not in column:
        return False
    least, most = column["least"], column["most"]
    if least <= observed <= most:
        return False
    # ends come back from standardised units, up to rounding
    slack = _ROUNDING * max(abs(least), abs(most))
    return not least - slack <= observed <= most + slack


def _outside_clause(name: str, column: ColumnRecord) -> str:
    observed, expected = float(column["observed"] or 0.0), column["expected"]
    above = observed > column["most"]
    limit = column["most"] if above else column["least"]
    words = (
        "only value seen"
        if column["least"] == column["most"]
        else ("largest seen" if above else "smallest seen")
    )
    observed_text, limit_text = write_pair(observed, limit)
    implied_text = write_pair(expected, limit)[0]
    implied = "" if column["least"] == column["most"] else f"; the others imply {implied_text}"
    return f"{name} {observed_text}: {words} {limit_text}{implied}"


def write_pair(first: float, second: float, scale: float = 0.0) -> tuple[str, str]:
    """Write two numbers with no more digits than it takes to see how they differ.

    Numbers that are the same to single precision, or differ by no more than the rounding of
    numbers as large as `scale`, are written alike.

    Examples
    --------
    >>> write_pair(0.2, 1.8734)
    ('0.2', '1.9')
    >>> write_pair(123456.0, 123457.31)
    ('123456', '123457.3')
    >>> write_pair(1e-12, 4e300)
    ('1e-12', '4e+300')
    >>> write_pair(1.0, 0.9999999999999999)
    ('1', '1')
    """
    # half of each: the difference of two huge numbers may be beyond the range of floats
    gap = abs(first / 2 - second / 2)
    if 2.0 * gap <= max(_ALIKE * abs(first), _ALIKE * abs(second), _ROUNDING * scale):
        return (_write(first, 0),) * 2
    decimals = 1 - _exponent(2.0 * gap) if 0 < gap < _MOST_PLAIN else 0
    texts = _write(first, decimals), _write(second, decimals)
    if texts[0] == texts[1]:
        return repr(first), repr(second)
    return texts


def _write(value: float, decimals: int) -> str:
    """Write `value` with at least two significant digits and that many decimals."""
    if value == 0:
        return "0"
    size = abs(value)
    exponent = _exponent(size)
    decimals = min(max(decimals, 1 - exponent, 0), 16 - exponent)
    if _LEAST_PLAIN <= size < _MOST_PLAIN:
        if decimals <= 0:
            return f"{value:.0f}"
        return f"{value:.{decimals}f}".rstrip("0").rstrip(".")
    text = f"{value:.{min(max(decimals + exponent + 1, 2), 4)}g}"
    # the largest numbers must not be rounded to infinity
    return text if math.isfinite(float(text)) else repr(value)


def _exponent(value: float) -> int:
    return math.floor(math.log10(value))
