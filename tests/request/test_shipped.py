"""The shipped demonstration study: it equals what this version computes; and the user's copy of it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.base.resources import resource_dir
from scalegraph.request import Session
from scalegraph.request.model import shipped
from scalegraph.runtime.compiler import find_compiler
from scalegraph.store import Study

MAKE = "python docs/make_demo_study.py"


def source() -> Path:
    path = shipped.shipped()
    assert path is not None, f"made by: {MAKE}"
    return path


@pytest.mark.slow
def test_the_shipped_study_is_the_whole_demonstration_and_names_no_computer() -> None:
    with Study.open(source()) as study:
        assert all(run.ok for run in study.runs())
        assert {run.point.processors for run in study.runs()} == {1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64}
        assert all(run.trace is None for run in study.runs())
        assert study.manifest.request["trace"]["processors"] == [4, 16]
        assert "directory" not in study.manifest.request["program"]
        assert study.manifest.sources[0].text == (resource_dir("programs") / "billiard.c").read_text()
    assert source().stat().st_size < 2_000_000


@pytest.mark.slow
@pytest.mark.compiler
def test_the_shipped_numbers_are_those_that_this_version_computes() -> None:
    """If this fails: ``python docs/make_demo_study.py``."""
    with Study.open(source()) as study:
        fact = study.facts(shipped.FACT)
        kept = {(run.point.processors, run.point.label()): run for run in study.runs()}
    if fact["compiler"] != find_compiler("c").identity:
        pytest.skip(f"the study was compiled by {fact['compiler']}, this is {find_compiler('c').identity}")
    request = Session().load(resource_dir("requests") / "demo.toml")
    few = request.model_copy(update={"processors": (1, 8, 64), "bound": request.bound[:1], "trace": None})
    with Session().submit(few, None) as now:
        runs = now.runs()
    assert {run.point.processors for run in runs} == {1, 8, 64}
    for run in runs:
        before = kept[run.point.processors, run.point.label()]
        spent = [{name: cycles for name, cycles in each.categories.items() if cycles} for each in (before, run)]
        assert (before.time_cycles, spent[0]) == (run.time_cycles, spent[1]), MAKE  # a missing category is 0
        assert (before.references, before.misses) == (run.references, run.misses), MAKE
        assert before.regions == run.regions, MAKE
        assert before.lines == run.lines, MAKE


def test_the_user_gets_a_copy_that_is_kept_and_nothing_is_overwritten(tmp_path: Path) -> None:
    place = tmp_path / "data"
    first = shipped.opened_copy(place)
    assert first == place / "demo.sgstudy"
    with Study.open(first, write=True) as study:
        study.set_facts("mine", 1)
    assert shipped.opened_copy(place) == first
    with Study.open(first) as study:
        assert study.facts("mine") == 1
    first.write_bytes(b"something else")
    second = shipped.opened_copy(place)
    assert second == place / "demo-2.sgstudy"
    assert first.read_bytes() == b"something else"
    assert [path.name for path in sorted(place.iterdir())] == ["demo-2.sgstudy", "demo.sgstudy"]


def test_where_nothing_can_be_written_the_shipped_file_is_viewed(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file stands in the way")
    assert shipped.opened_copy(tmp_path / "data") == source()


@pytest.mark.slow
@pytest.mark.compiler
def test_runs_are_added_to_a_copy_wherever_scalegraph_is_installed(tmp_path: Path) -> None:
    path = shipped.opened_copy(tmp_path)
    assert path is not None
    assert path.stat().st_mode & stat.S_IWUSR
    with Study.open(path, write=True) as study:
        fact = study.facts(shipped.FACT)
        study.set_facts(shipped.FACT, {"compiler": find_compiler("c").identity})
        # as if ScaleGraph were installed in another directory
        identity = {**study.manifest.identity, "program": "elsewhere"}
        study.set_manifest(study.manifest.model_copy(update={"identity": identity}))
        count, same = len(study), fact["compiler"] == find_compiler("c").identity
    if not same:
        pytest.skip("instrumented text and regions may differ with another compiler")
    request = Session().load(resource_dir("requests") / "demo.toml")
    more = request.model_copy(update={"processors": (1, 3), "bound": request.bound[:1], "trace": None})
    with Session().submit(more, path) as study:
        assert len(study) == count + 1


@pytest.mark.slow
@pytest.mark.compiler
def test_runs_of_another_compiler_are_not_mixed_in_and_the_way_on_is_said(tmp_path: Path) -> None:
    path = shipped.opened_copy(tmp_path)
    assert path is not None
    with Study.open(path, write=True) as study:
        study.set_facts(shipped.FACT, {"compiler": "another"})
        identity = {**study.manifest.identity, "program": "elsewhere"}
        study.set_manifest(study.manifest.model_copy(update={"identity": identity}))
    request = Session().load(resource_dir("requests") / "demo.toml")
    more = request.model_copy(update={"processors": (1, 3), "bound": request.bound[:1], "trace": None})
    with pytest.raises(InputError, match="compute the demonstration anew"):
        Session().submit(more, path)
