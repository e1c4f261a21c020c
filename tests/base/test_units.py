import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalegraph.base.run import RunPoint
from scalegraph.base.units import assigned, plain, plural, seconds, si, significant, thousands


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.00123, "s", "1.23 ms"),
        (999.96, "B", "1.00 kB"),
        (1234567, "", "1.23 M"),
        (0.25, "", "0.250"),
        (0, "s", "0 s"),
        (None, "s", "–"),
        (math.nan, "s", "–"),
        (-2.5e-7, "s", "-250 ns"),
        (math.inf, "s", "∞ s"),
        (5e-324, "s", "4.94e-312 ps"),
        (1122426.0, "s", "1120000 s"),
    ],
)
def test_numbers_are_written_with_three_digits_and_a_prefix(value: float | None, unit: str, text: str) -> None:
    assert si(value, unit) == text


@pytest.mark.slow
@given(st.floats(min_value=1e-12, max_value=1e18))
def test_rounding_keeps_three_digits(value: float) -> None:
    assert float(significant(value)) == pytest.approx(value, rel=5.1e-3)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.42, "0.4 s"), (12.3, "12 s"), (200, "3 min 20 s"), (7500, "2 h 5 min"), (None, "unknown")],
)
def test_durations_read_as_people_say_them(value: float | None, text: str) -> None:
    assert seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (107.80000000000001, "107.8"),
        (0.1 + 0.2, "0.3"),
        (200, "200"),
        (200.0, "200"),
        (1234567.5, "1234567.5"),
        (999.9999999999999, "1000"),
        (2.5e-9, "2.5e-09"),
        ("fast", "fast"),
        (math.inf, "∞"),
        (1e6, "1000000"),
    ],
)
def test_parameters_are_written_without_the_rounding_of_the_machine(value: object, text: str) -> None:
    assert plain(value) == text
    assert assigned([("n", value)]) == f"n = {text}"


def test_a_run_is_named_with_numbers_as_people_write_them() -> None:
    assert RunPoint(processors=4, parameters={"x": 107.80000000000001}).label() == "N = 4, x = 107.8"


def test_thousands_stand_apart() -> None:
    assert thousands(1234567) == "1\u202f234\u202f567"
    assert thousands(9_007_199_254_740_993) == "9\u202f007\u202f199\u202f254\u202f740\u202f993"
    assert thousands(1234.5, 2) == "1\u202f234.50"


@pytest.mark.parametrize(
    ("word", "many"), [("processor", "processors"), ("process", "processes"), ("memory", "memories")]
)
def test_words_for_what_is_counted_have_a_plural(word: str, many: str) -> None:
    assert plural(word) == many
