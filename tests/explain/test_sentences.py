"""A sentence is one line in which observed and expected can be told apart."""

import math

from hypothesis import given
from hypothesis import strategies as st

from setatoms.explain.sentences import write_pair, write_sentence

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def column(observed, expected, contribution=0.71, name="petal_width", **more):
    return {
        "column": name,
        "observed": observed,
        "expected": expected,
        "contribution": contribution,
        **more,
    }


def test_a_sentence_names_the_column_what_it_was_and_what_was_expected():
    columns = [column(0.2, 1.9), column(7.25, 5.0, 0.2, "length"), column(1.0, 1.1, 0.001)]
    assert write_sentence(columns, score=1.0) == (
        "petal_width 0.2 where 1.9 was expected (71 %), length 7.2 where 5 was expected (20 %)"
    )


def test_a_refill_is_told_by_what_it_takes_off_the_score():
    said = write_sentence([column(0.2, 1.4, implied=1.9, drop=0.5)], score=2.0)
    assert said == "petal_width 0.2 where the others imply 1.9 (score -25 %)"


def test_missing_and_exact_rows_have_sentences_too():
    assert write_sentence([column(None, 1.9)], 1.0) == "petal_width missing, 1.9 expected"
    assert write_sentence([column(1.9, 1.9)], 0.0) == "as expected in every column"


def test_a_sentence_stays_on_one_line():
    said = write_sentence([column(1.0, 2.0, name="a\nb\r\n c")], 1.0)
    assert said == "a b c 1 where 2 was expected (71 %)"


@given(NUMBERS, NUMBERS)
def test_different_numbers_look_different(first, second):
    texts = write_pair(first, second)
    # halves, as the difference may be beyond the range of floats
    alike = abs(first / 2 - second / 2) * 2.0 <= max(1e-7 * abs(first), 1e-7 * abs(second))
    assert (texts[0] == texts[1]) == alike


def test_rounding_is_not_written():
    told = {"represented": 1.0, "least": 0.0, "most": 1.0}
    for observed, expected in ((1.0, 0.99999999999999989), (0.0, -1e-17)):
        said = write_sentence([column(observed, expected, **told)], 1.0)
        assert said == f"petal_width {observed:.0f}, as the others imply (71 %)"
    assert write_sentence([column(1.0, 1 - 1e-12)], 1.0) == "petal_width 1, as expected (71 %)"
    assert write_pair(1.0, 0.99997) == ("1", "0.99997")


@given(NUMBERS, NUMBERS)
def test_what_is_written_is_what_was_measured(first, second):
    gap = abs(first / 2 - second / 2) * 2
    for value, text in zip((first, second), write_pair(first, second), strict=True):
        # a tenth of the difference or of the number itself, whichever is larger; halves round
        assert math.isclose(float(text), value, rel_tol=0.06, abs_tol=0.06 * gap)
