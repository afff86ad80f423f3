r"""Numbers as people write them.

How a column writes its numbers is found from its cells (`Style.of`): what stands before and behind
all of them (`$`, `kg`, `%`), what marks decimals and what groups thousands. A style reads a cell in
Python (`Style.read`) and in SQL (`Style.sql`), by the same rules.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from setatoms.files.engine import quoted_text

# What spreadsheets, databases, statistics offices, R and Python write where a value is missing.
MISSING = frozenset([
    "", "na", "n/a", "#n/a", "#n/a n/a", "#na", "<na>", "n.a.", "n.a", "nan", "-nan", "1.#ind",
    "-1.#ind", "1.#qnan", "-1.#qnan", "null", "nil", "none", "?", "-", "--", "---", "\u2013",
    "\u2014", ".", "..", "...", ":", "*", "**", "***", "****", "#div/0!", "#value!", "#ref!",
    "#num!", "#null!", "#name?", "missing", "unknown", "not available", "\\n", "k.a.", "k. a.",
    "keine angabe", "mq", "n.v.", "n/v",
])  # fmt: skip

# Pairs of words for true and false.
_PAIRS = (
    ("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("ja", "nein"), ("j", "n"),
    ("wahr", "falsch"), ("oui", "non"), ("vrai", "faux"), ("sí", "no"), ("si", "no"),
    ("sim", "não"), ("ja", "nej"), ("ja", "nee"), ("on", "off"),
)  # fmt: skip

TRUE_WORDS = frozenset(yes for yes, _ in _PAIRS)
FALSE_WORDS = frozenset(no for _, no in _PAIRS)

_SPACES = "\u0020\u00a0\u2009\u202f"
# What may stand around a cell.
AROUND = _SPACES + "\t\r\n\ufeff"
_MINUS = "-\u2212\u2013"
_SIGN = "[+\\-\u2212\u2013]"
_CURRENCY = "$€£¥₹"
_DIGITS = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>{_SIGN})?\s*(?P<before>[A-Z]{{0,3}}[{_CURRENCY}]|[A-Z]{{2,3}}(?=\s))?\s*"
    rf"(?P<sign2>{_SIGN})?(?P<digits>(?:\d(?:[.,'\u2019]?\d|[{_SPACES}]\d{{3}}(?!\d))*[.,]?|[.,]\d+))"
    rf"(?P<power>[eE]{_SIGN}?\d+)?\s*(?P<after>[\-\u2212])?"
    rf"(?P<behind>[^\d\s();|\-\u2212\u2013][^\d();|]{{0,14}}?(?:(?<=[^\W\d_])[23])?)?\s*(?P<close>\))?",
)
_PLAIN = re.compile(r"[ \t]*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[ \t\r\n]*", re.A)
# A whole number as programs write it that know of fractions.
WHOLE = r"^([+-]?\d+)\.0+$"
_WHOLE = re.compile(WHOLE, re.A)
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ]\d{1,2}[:h.]\d{2}.{0,24})?"
    r"|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}(?:[T ,]+\d{1,2}[:h.]\d{2}.{0,24})?"
    r"|\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[AaPp][Mm])?"
    r"|\d{1,2}[-. ](?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-z]*"
    r"[-. ,]+\d{2,4}"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[. ]+\d{1,2},?\s+\d{4}",
    re.I,
)
# So many numbers as 8.133, and so many as 961 beside them, are whole ones.
_MANY_GROUPED, _SOME_SHORT = 50, 3
# A column is one of numbers if this share of its cells are.
ENOUGH = 0.98


def nearly_all(n_numbers: int, n_cells: int) -> bool:
    """Tell whether so many numbers among the cells of a column make it one of numbers."""
    one_odd = n_cells - n_numbers == 1 and n_numbers >= 10
    return n_numbers > 0 and (one_odd or n_numbers >= ENOUGH * n_cells)


def clean(cell: str) -> str:
    """Return a cell without the space around it."""
    return cell.strip(AROUND)


def as_value(cell: str) -> str:
    """Return a value of a column of few values; whole numbers without a point.

    Examples
    --------
    >>> as_value(" 1.0"), as_value("007"), as_value("1.50")
    ('1', '007', '1.50')
    """
    return _WHOLE.sub(r"\1", clean(cell))


def is_missing(cell: str | None, words: frozenset[str]) -> bool:
    """Tell whether a cell stands for no value."""
    return cell is None or clean(cell).lower() in words


def is_date(cell: str) -> bool:
    """Tell whether a cell looks like a date or a time.

    Examples
    --------
    >>> is_date("2024-02-29T10:00:00Z"), is_date("3.2.2024"), is_date("1.5.2")
    (True, True, False)
    """
    return _DATE.fullmatch(clean(cell)) is not None


def looks_like_number(cell: str) -> bool:
    """Tell whether a cell could be a number in some style.

    Examples
    --------
    >>> [looks_like_number(cell) for cell in ("$1,200.50", "12 kg", "5;2", "10 Main Street 3")]
    [True, True, False, False]
    """
    return _DIGITS.fullmatch(clean(cell)) is not None


def booleans_of(words: Iterable[str]) -> dict[str, float] | None:
    """Return what the words of a column mean, if they are a pair for true and false.

    Examples
    --------
    >>> booleans_of(["Ja", "nein"])
    {'ja': 1.0, 'nein': 0.0}
    """
    found = {clean(word).lower() for word in words}
    for yes, no in _PAIRS:
        if found and found <= {yes, no}:
            return {yes: 1.0, no: 0.0}
    return None


@dataclass(frozen=True)
class Style:
    """How a column writes its numbers.

    Attributes
    ----------
    decimal, thousands : str
        What marks decimals and what groups thousands; the latter may be empty.
    before : str
        What stands before the number of some or all cells: a currency.
    behind : str
        A pattern of what stands behind it: a unit, or any letter that says something of a value.
    signs : bool
        Whether signs are written otherwise than by + and -: as ``(3.5)`` or with other dashes.
    padded : bool
        Whether cells have other spaces around them than programs know.
    """

    decimal: str = "."
    thousands: str = ""
    before: str = ""
    behind: str = ""
    signs: bool = False
    padded: bool = False

    @property
    def plain(self) -> bool:
        """Whether numbers are written as programs do."""
        return self == Style()

    @classmethod
    def of(
        cls, cells: Sequence[str], decimal: str | None = None, thousands: str | None = None
    ) -> Style | None:
        """Return the style in which nearly all cells are numbers, None if there is none.

        Parameters
        ----------
        cells : sequence of str
            Cells of a column that are not missing.
        decimal, thousands : str, optional
            What is known of the marks already.

        Examples
        --------
        >>> style = Style.of(["$1,200.50", "($7)"])
        >>> style.thousands, style.before, style.signs
        (',', '$', True)
        >>> Style.of(["3.078,5 kg", "2 kg"]).behind
        'kg'
        >>> Style.of(["12 kg", "3 apples"]) is None
        True
        """
        usual = decimal in (None, ".") and not thousands and all(map(_PLAIN.fullmatch, cells))
        if usual and (decimal == "." or not _could_be_grouped(cells)):
            return cls() if cells else None
        matches = [match for cell in cells if (match := _DIGITS.fullmatch(clean(cell)))]
        if not nearly_all(len(matches), len(cells)):
            return None
        digits = [match["digits"] for match in matches]
        found_decimal, found_thousands = _marks(digits, decimal)
        style = cls(
            decimal=found_decimal,
            thousands=found_thousands if thousands is None else thousands,
            before=_common([match["before"] for match in matches if match["before"]], len(cells)),
            behind=_behind([match for match in matches if match["behind"]], len(cells)),
            signs=any(_odd_sign(match) for match in matches),
            padded=any(cell.strip(" \t\r\n") != clean(cell) for cell in cells),
        )
        read = sum(style.read(cell) is not None for cell in cells)
        return style if nearly_all(read, len(cells)) else None

    def read(self, cell: str) -> float | None:
        """Return the number in a cell, None if there is none.

        Examples
        --------
        >>> Style(decimal=",", thousands=".").read("-3.078,5")
        -3078.5
        >>> Style(thousands=",").read("12,5") is None
        True
        """
        match = self._pattern.fullmatch(clean(cell))
        if match is None:
            return None
        number = match["digits"]
        if self.thousands:
            number = re.sub(f"[{_class(self.thousands)}]", "", number)
        number = float(number.replace(self.decimal, ".") + (match["power"] or ""))
        negative = any(sign and sign in _MINUS for sign in match.group("sign", "sign2", "after"))
        return -number if negative or match["open"] else number

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(
            rf"(?P<open>\()?(?P<sign>{_SIGN})?\s*(?:{re.escape(self.before)})?\s*"
            rf"(?P<sign2>{_SIGN})?(?P<digits>{self._digits})(?P<power>[eE][+-]?\d+)?"
            rf"\s*(?P<after>[\-\u2212])?(?:{self.behind})?(?(open)\))"
        )

    @cached_property
    def _digits(self) -> str:
        point = re.escape(self.decimal)
        plain = rf"\d+(?:{point}\d*)?|{point}\d+"
        if not self.thousands:
            return plain
        return rf"\d{{1,3}}(?:[{_class(self.thousands)}]\d{{3}})+(?:{point}\d*)?|{plain}"

    def sql(self, cell: str) -> str:
        """Return an expression for the number in the cell that an expression stands for.

        It is null where there is none, or none that is finite.
        """
        text = cell
        if not self.plain:
            text = f"trim({text}, {quoted_text(AROUND)})"
            if self.signs:
                text = f"regexp_replace({text}, '^\\((.*)\\)$', '-\\1')"
                text = f"regexp_replace({text}, '[\u2212\u2013]', '-')"
                text = f"regexp_replace({text}, '^([^-].*)-$', '-\\1')"
            if self.behind:
                unit = quoted_text(rf"[{_SPACES}]*(?:{self.behind})$")
                text = f"regexp_replace({text}, {unit}, '')"
            if self.before:
                sign = rf"^({_SIGN}?)[{_SPACES}]*{re.escape(self.before)}[{_SPACES}]*"
                text = f"regexp_replace({text}, {quoted_text(sign)}, '\\1')"
            allowed = quoted_text(rf"[+-]?(?:{self._digits})(?:[eE][+-]?\d+)?")
            number = text
            if self.thousands:
                gone = quoted_text(f"[{_class(self.thousands)}]")
                number = f"regexp_replace({number}, {gone}, '', 'g')"
            if self.decimal != ".":
                number = f"replace({number}, {quoted_text(self.decimal)}, '.')"
            text = f"case when regexp_full_match({text}, {allowed}) then {number} end"
        number = f"try_cast({text} as double)"
        return f"case when isfinite({number}) then {number} end"


def _could_be_grouped(cells: Sequence[str]) -> bool:
    """Tell whether every cell with a point has three digits behind it."""
    return all(re.fullmatch(r"[^.]*\.\d{3}", clean(cell)) for cell in cells if "." in cell) and any(
        "." in cell for cell in cells
    )


def _class(thousands: str) -> str:
    """Return the members of a class of characters, for patterns."""
    return {" ": _SPACES, "'": "'\u2019"}.get(thousands, re.escape(thousands))


def _common(found: Sequence[str], n_cells: int) -> str:
    """Return what stands around several numbers; what is at one alone is odd."""
    word, count = (Counter(found).most_common(1) or [("", 0)])[0]
    return word if count > 1 or count == n_cells else ""


def _behind(matches: Sequence[re.Match[str]], n_cells: int) -> str:
    # letters after a space, as statistics offices put behind provisional values
    letters = re.compile(rf".*[{_SPACES}][a-z]{{1,2}}|.*\*", re.S)
    several = len({match["behind"] for match in matches}) > 1
    if (several or 0 < len(matches) < 0.5 * n_cells) and all(
        letters.fullmatch(match[0]) for match in matches
    ):
        return r"[a-z*]{1,2}"
    return re.escape(_common([match["behind"] for match in matches], n_cells))


def _odd_sign(match: re.Match[str]) -> bool:
    odd = any(sign and sign in _MINUS[1:] for sign in match.group("sign", "sign2"))
    return odd or bool(match["open"]) or bool(match["after"])


def _marks(digits: Sequence[str], decimal: str | None) -> tuple[str, str]:
    """Return the decimal mark and what groups thousands, of numbers without signs and units."""
    grouped = {
        mark: re.compile(rf"[1-9]\d{{0,2}}(?:[{_class(mark)}]\d{{3}})+(?:[.,]\d*)?")
        for mark in (",", ".")
    }
    spaced = next(
        (
            mark
            for mark in (" ", "'")
            if any(re.search(f"[{_class(mark)}]", number) for number in digits)
        ),
        "",
    )
    with_comma = [number for number in digits if "," in number]
    with_point = [number for number in digits if "." in number]
    if decimal is None:
        decimal = _decimal(digits, with_comma, with_point, grouped)
    other = "," if decimal == "." else "."
    with_other = with_comma if decimal == "." else with_point
    if with_other and all(grouped[other].fullmatch(number) for number in with_other):
        return decimal, other
    return decimal, spaced


def _decimal(
    digits: Sequence[str],
    with_comma: Sequence[str],
    with_point: Sequence[str],
    grouped: dict[str, re.Pattern[str]],
) -> str:
    both = [number for number in with_comma if "." in number]
    if both:
        return "," if both[0].rindex(",") > both[0].rindex(".") else "."
    if not with_comma:
        # 1.234.567 has no decimals
        if any(number.count(".") > 1 for number in with_point):
            return ","
        # nor have 8.133 and 961, if there are many of the one kind and some of the other
        whole = [number for number in digits if "." not in number]
        grouped_all = all(grouped["."].fullmatch(number) for number in with_point)
        many = len(with_point) >= _MANY_GROUPED and len(whole) >= _SOME_SHORT
        return "," if many and grouped_all and max(map(len, whole)) <= 3 else "."
    commas_group = all(grouped[","].fullmatch(number) for number in with_comma)
    return "." if commas_group or with_point else ","
