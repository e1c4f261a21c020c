"""Models checked without pydantic accept only what pydantic accepts, and make the same of it."""

import copy
import math
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph import machine
from scalegraph.base.models import BaseModel, ConfigDict, Field, PrivateAttr, full, model_validator, quick, refusal
from scalegraph.base.run import RunRecord
from scalegraph.machine import Machine
from scalegraph.request.model.request import Request
from scalegraph.store import Manifest

ODD: tuple[Any, ...] = (
    *(0, -1, 1, 2, 2**53, 2**63, 2**64, -0.0, 0.5, 1.0, 1e300, math.nan, math.inf, True, False, None),
    *("", "x", "1", "a\nb", "ring", "none", "\ud800", "µ", b"x", "n" * 5000, "2 s", "problem_size", "efficiency"),
    *([], (), {}, [1], (1, 2), [1.0], ["x"], [[1]], [True], {"x": 1}, {"kind": "ring"}, {1: 2}, {"name": "x"}),
)
REQUEST = {
    "program": {"sources": ["a.c"], "args": ["1"], "env": {"A": "1"}, "accept_exit": [3], "directory": "."},
    "parameters": {"n": [1, 2.0, "x"], "m": 3},
    "processors": [4, 1, 2],
    "bound": [{"kind": "efficiency", "value": 0.5, "processors": [2]}, {"kind": "problem_size"}],
    "machine": {"name": "ksr1", "overrides": {"clock_mhz": 40}},
    "scaling": {"grow": {"n": "N"}},
    "what_if": [{"ideal": ["cache"], "speedup": {"line:a.c:1": 2}}],
    "trace": {"what": ["waits", "regions"], "begin": 0.5, "limit": "1 MiB"},
    "predict": {"at": "n=8"},
    "limits": {"time_s": 5, "memory_bytes": 2**30},
    "schedules": {"compare": "static,guided"},
    "timed": "clock",
}
RECORD = {
    "source": "simulated",
    "program": "p",
    "machine": "m",
    "point": {"processors": 2, "parameters": {"n": 1, "f": 0.5, "s": "x"}, "variant": {"ideal": ["sync", "cache"]}},
    "time_s": 1,
    "categories": {"busy": 3},
    "processor_categories": {"busy": [1, 2]},
    "regions": [{"region": 0, "categories": {"a": 1}, "waited": {"x": {"y": 2}}, "widths": {"c": {"1": 2}}}],
    "lines": [{"file": "a.c", "line": 3}],
    "messages": {"rank": [0], "communicator": [0], "partner": [1], "messages": [2], "bytes": [8], "cycles": {"a": [1]}},
    "resources": [{"kind": "link", "name": "x"}],
    "links": {"kind": "ring", "name": ["a"], "bytes": [1], "transactions": [1], "busy": [1], "waiting": [0],
              "spans": [[1, 2]]},
    "sampled": {"visits": 1, "intervals": {"time_cycles": 1.5}, "phases": [{"place": "a", "kind": "f", "visits": 2}]},
    "stdout_ranks": [[0, 3]],
    "shared_lines": [{"address": 1, "bytes": 64, "users": [{"processor": 0, "read": [[0, 8]]}]}],
}  # fmt: skip
STUDY = {"program": "p", "machine": "ksr1", "request": {"program": {"name": "p"}, "x": [1, None]}, "sources": [
    {"name": "a.c", "text": "µ"}], "regions": [{"id": 1, "kind": "loop", "name": "l", "parent": None}]}  # fmt: skip
DATA: dict[type[BaseModel], list[dict[str, Any]]] = {
    Request: [REQUEST, {"program": {"name": "billiard"}}],
    Machine: [machine.load(name).model_dump() | {"origin": {"name": "choice"}} for name in ("ksr1", "ncube2")],
    RunRecord: [RECORD],
    Manifest: [STUDY],
}
CASES = [(model, data) for model, found in DATA.items() for data in found]


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in *data*."""
    for key, item in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield (*path, key)
        yield from places(item, (*path, key))


def lists(data: Any) -> Any:
    """Return *data* with lists for tuples, so that each place can be changed."""
    if isinstance(data, dict):
        return {key: lists(item) for key, item in data.items()}
    return [lists(item) for item in data] if isinstance(data, list | tuple) else data


def compare(model: Any, data: dict[str, Any]) -> None:
    """Check that what is accepted at once is what pydantic makes of *data*, and is written the same."""
    made = model.__new__(model)
    if not quick.fill(made, copy.deepcopy(data)):
        return
    other: Any = full.validator(model).validate_python(copy.deepcopy(data))
    assert repr(made) == repr(other)
    assert made.model_fields_set == other.model_fields_set
    for wanted in ({}, {"mode": "json"}, {"mode": "json", "exclude_defaults": True}, {"by_alias": True}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert repr(made.model_dump(**wanted)) == repr(full.serializer(model).to_python(made, **wanted))


@pytest.mark.parametrize(("model", "data"), CASES)
def test_every_value_replaced_by_an_odd_one_is_taken_as_pydantic_takes_it(
    model: type[BaseModel], data: dict[str, Any]
) -> None:
    whole = lists(data)
    compare(model, whole)
    for path in places(whole):
        for odd in ODD:
            changed = copy.deepcopy(whole)
            here: Any = changed
            for key in path[:-1]:
                here = here[key]
            here[path[-1]] = odd
            compare(model, changed)


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_several_odd_values_are_taken_as_pydantic_takes_them(drawn: st.DataObject) -> None:
    model, data = drawn.draw(st.sampled_from(CASES))
    changed = lists(data)
    for _ in range(drawn.draw(st.integers(2, 4))):
        path = drawn.draw(st.sampled_from(list(places(changed)) or [()]))
        if not path:
            break
        here: Any = changed
        for key in path[:-1]:
            here = here[key]
        if drawn.draw(st.booleans()):
            here[path[-1]] = copy.deepcopy(drawn.draw(st.sampled_from(ODD)))
        elif isinstance(here, dict):
            del here[path[-1]]
        compare(model, changed)


@pytest.mark.parametrize("name", [summary.name for summary in machine.available()])
def test_shipped_machines_are_accepted_without_pydantic(name: str) -> None:
    script = f"import sys; from scalegraph import machine; machine.load({name!r}); print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


class Part(BaseModel):
    """A part of a model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["a", "b"] = "a"
    count: int = Field(default=1, ge=1, description="How many")


class Whole(BaseModel):
    """A model with a part, a check and a private value."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    part: Part
    parts: tuple[Part, ...] = ()
    _note: str = PrivateAttr(default="none")

    @model_validator(mode="after")
    def _few(self) -> "Whole":
        if len(self.parts) > self.part.count:
            raise ValueError("too many parts")
        return self


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "part: Field required"),
        ({"part": {"count": 0}}, "part.count: Input should be greater than or equal to 1"),
        ({"part": {"kind": "c"}}, "part.kind: Input should be 'a' or 'b'"),
        ({"part": {}, "other": 1}, "other: Extra inputs are not permitted"),
        ({"part": {}, "parts": [{}, {}]}, ": Value error, too many parts"),
    ],
)
def test_what_is_wrong_is_refused_in_pydantics_words(data: dict[str, Any], said: str) -> None:
    for validate in (True, False):
        with pytest.raises(refusal()) as refused:
            Whole.model_validate(data) if validate else Whole(**data)
        assert [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in refused.value.errors()] == [said]


def test_copies_and_pickles_keep_all_values() -> None:
    whole = Whole(part=Part(kind="b"))
    marked = whole.model_copy()
    marked._note = "mine"
    for made in (marked.model_copy(), copy.copy(marked), copy.deepcopy(marked), pickle.loads(pickle.dumps(marked))):
        assert (made, made._note, made.model_fields_set) == (marked, "mine", {"part"})
    assert whole._note == "none"
    assert whole != marked
    assert hash(whole) == hash(Whole(part=Part(kind="b")))


def test_an_instance_does_not_change() -> None:
    with pytest.raises(refusal(), match="frozen"):
        Part().count = 2


def test_models_of_pydantic_may_have_ours_inside() -> None:
    import pydantic

    adapter = pydantic.TypeAdapter(dict[str, Whole])
    made = adapter.validate_python({"x": {"part": {"count": 2}, "parts": [{"kind": "b"}]}})
    assert made == {"x": Whole(part=Part(count=2), parts=(Part(kind="b"),))}
    assert adapter.dump_python(made, exclude_defaults=True) == {"x": {"part": {"count": 2}, "parts": ({"kind": "b"},)}}
