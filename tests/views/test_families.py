"""Families of views: one entry of lists, whose option "show as" chooses a view; every view keeps its own name."""

from __future__ import annotations

import pytest

from scalegraph import views
from scalegraph.base.errors import InputError
from scalegraph.subjects.study import StudyData
from scalegraph.subjects.trace import TraceData
from scalegraph.views.families import FAMILIES
from tests.views import studies, traces

ALIASES = [(family.name, choice, name) for family in FAMILIES for choice, name in family.shown_as.items()]


@pytest.fixture(scope="module")
def data() -> dict[str, StudyData | TraceData]:
    return {"study": next(iter(studies.few().values())), "trace": traces.halves()}


@pytest.mark.parametrize(("family", "choice", "name"), ALIASES)
def test_an_old_name_is_its_family_shown_that_way(
    family: str, choice: str, name: str, data: dict[str, StudyData | TraceData]
) -> None:
    subject = views.get(name).subject
    figure, same = views.get(family).build(data[subject], show_as=choice), views.get(name).build(data[subject])
    assert figure.view == same.view == name
    assert (figure.title, figure.sentence, figure.empty) == (same.title, same.sentence, same.empty)


def test_views_of_a_family_can_replace_one_another() -> None:
    for family in FAMILIES:
        members = views.get(family.name).members
        assert len({(view.subject, view.window, view.several) for view in members}) == 1, family.title


def test_lists_have_one_view_of_each_family_and_names_are_all_known() -> None:
    listed = {**views.listed("study"), **views.listed("trace")}
    assert len(listed) < 60
    assert {member.name for view in listed.values() for member in view.members} == set(views.everything())
    assert len({view.title for view in listed.values()}) == len(listed)


def test_one_view_of_a_family_is_not_shown_as_another(data: dict[str, StudyData | TraceData]) -> None:
    with pytest.raises(InputError, match="name the view 'widths'"):
        views.get("hit-rates").build(data["study"], show_as="widths")
    assert views.get("hit-rates").build(data["study"], show_as="hit rates").view == "hit-rates"


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("surface", "did you mean 'scalability-surface'"),
        ("hit rates", "did you mean 'hit-rates'"),
        ("caches", "did you mean 'remote-causes', 'hit-rates', 'invalidations',"),
        ("matrx", "did you mean 'matrix'"),
    ],
)
def test_a_word_of_show_as_leads_to_its_view(word: str, meant: str) -> None:
    with pytest.raises(InputError, match=meant):
        views.get(word)


def test_another_choice_is_refused_with_the_choices(data: dict[str, StudyData | TraceData]) -> None:
    with pytest.raises(InputError, match="one of matrix, rows, surface"):
        views.get("matrix").build(data["study"], show_as="row")
    with pytest.raises(InputError, match="no option 'show_as'"):
        views.get("runs").build(data["study"], show_as="rows")
    with pytest.raises(InputError, match="no option 'showas'; did you mean 'show_as'"):
        views.get("matrix").build(data["study"], showas="rows")
