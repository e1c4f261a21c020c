from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from scalegraph.base.errors import InputError
from scalegraph.request.results import assertions
from scalegraph.subjects.study import StudyData
from tests.analyze import synthetic


@pytest.fixture(scope="module")
def data() -> StudyData:
    return StudyData.from_runs([*synthetic.fixed(), *synthetic.grid(counts=(1, 4))], regions=synthetic.REGIONS)


def _word(data: StudyData, statement: str) -> str:
    return assertions.check(data, [statement])[0].word


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("E(1) == 1", "passed"),
        ("E(64) > 0.7", "failed"),
        ("0 < E(64) < 0.7", "passed"),
        ("S(8) / 8 - E(8) < 1e-12 and T(8) < T(4)", "passed"),
        ("not E(64) > 0.7 or E(1) > 2", "passed"),
        ('value("no_such", 8) >= 0', "undecided"),
        ('pop("load_balance", 8) >= 0.9', "passed"),
        ("T(4, balls=64) < T(4, balls=128)", "passed"),
        ("max(E(2), E(4)) >= min(E(2), E(4))", "passed"),
        ("E(3) > 0.1", "undecided"),
        ("E(4, nothing=1) > 0.1", "undecided"),
        ("E(1) / 0 > 1", "undecided"),
    ],
)
def test_statements_hold_or_do_not_or_cannot_be_decided(data: StudyData, statement: str, word: str) -> None:
    assert _word(data, statement) == word


def test_what_is_said_gives_the_values(data: StudyData) -> None:
    (found,) = assertions.check(data, ["E(1) > E(64)"])
    assert found.said.startswith("E(1) = 1.000, E(64) = 0.08")
    (found,) = assertions.check(data, ["E(3) > 0.1"])
    assert found.said == "no run on 3 processors ended well; run were 1, 2, 4, 8, 16, 32, 64"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("E(64)", "compares nothing"),
        ("E(64 > 0.7", "is not a statement"),
        ("F(64) > 0.7", "no quantity 'F'"),
        ("E() > 0.7", "takes 1 values"),
        ("E('a') > 0.7", "a number of processors"),
        ("value(8, 8) > 0", "a name in quotes"),
        ("__import__('os').system('x') > 1", "may hold numbers"),
        ("E(x) > 1", "a number of processors"),
        ("E(64) in 3", "compares nothing"),
        ("True > 1", "may hold numbers"),
    ],
)
def test_what_is_no_statement_is_refused_before_any_work(statement: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected.replace("(", r"\(")):
        assertions.parse([statement])


def test_junit_counts_failures_and_errors(data: StudyData) -> None:
    found = assertions.check(data, ["E(1) == 1", "E(64) > 0.7", "E(3) > 0"])
    root = ET.fromstring(assertions.junit(found, "study").split("\n", 1)[1])
    assert root.attrib == {"tests": "3", "failures": "1", "errors": "1"}
    cases = root.findall("testsuite/testcase")
    assert [case.get("name") for case in cases] == ["E(1) == 1", "E(64) > 0.7", "E(3) > 0"]
    failure = cases[1].find("failure")
    assert failure is not None
    assert "E(64) = 0.08" in str(failure.get("message"))
    assert cases[2].find("error") is not None
