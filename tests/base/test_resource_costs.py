"""Activity of network parts, stored by field: a sequence of objects in memory, a list in files."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from scalegraph.base.resource_costs import ResourceCost, ResourceCosts
from scalegraph.base.run import RunPoint, RunRecord

COSTS = (
    ResourceCost(kind="link", name="link 0>1", busy=7, transactions=2, waiting=1),
    ResourceCost(kind="module", name="memory 0", units=4),
)


def record(costs: ResourceCosts) -> RunRecord:
    """Return a record with only *costs*."""
    return RunRecord(source="simulated", program="p", machine="m", point=RunPoint(processors=1), resources=costs)


def test_it_is_the_sequence_of_its_elements() -> None:
    costs = ResourceCosts.of(COSTS)
    assert (len(costs), tuple(costs), costs[1], costs[-1]) == (2, COSTS, COSTS[1], COSTS[1])
    assert list(costs[:1]) == [COSTS[0]]
    assert costs == ResourceCosts.of(list(COSTS))
    assert costs == list(COSTS)
    assert hash(costs) == hash(ResourceCosts.of(COSTS))
    assert costs != ResourceCosts.of(COSTS[:1])
    assert not ResourceCosts()
    assert ResourceCosts.of(()) == ResourceCosts()
    assert costs.documents() == [cost.model_dump() for cost in COSTS]
    with pytest.raises(IndexError):
        costs[2]


def test_files_have_a_list_of_objects_without_what_is_usual() -> None:
    made = record(ResourceCosts.of(COSTS))
    text = made.model_dump_json(exclude_defaults=True)
    listed = '"resources":[{"kind":"link","name":"link 0>1","busy":7,"transactions":2,"waiting":1},'
    assert listed + '{"kind":"module","name":"memory 0","units":4}]' in text
    assert RunRecord.model_validate_json(text) == made
    assert made.model_dump()["resources"] == [cost.model_dump() for cost in COSTS]
    assert "resources" not in record(ResourceCosts()).model_dump_json(exclude_defaults=True)


def test_what_a_file_has_is_checked() -> None:
    fields = {"source": "simulated", "program": "p", "machine": "m", "point": {"processors": 1}}
    with pytest.raises(ValidationError, match="busy"):
        RunRecord.model_validate({**fields, "resources": [{"kind": "link", "name": "a", "busy": 2**63}]})
