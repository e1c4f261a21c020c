"""Activity of the parts of network and memory in a run: many thousands on a large interconnect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeAlias, overload

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, SerializationInfo
from pydantic_core import CoreSchema, core_schema

_Count: TypeAlias = Annotated[int, Field(ge=-(2**63), lt=2**63)]


class ResourceCost(BaseModel):
    """Activity of one part of the network (``link``) or of the memory (``module``)."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    kind: str
    name: str
    units: int = 1  # parallel units: busy is at most units x T_para
    busy: _Count = 0  # cycles, summed over all units
    transactions: _Count = 0
    waiting: _Count = 0  # cycles that transactions waited for it


_FIELDS = tuple(ResourceCost.model_fields)
_DEFAULTS = tuple((name, field.default) for name, field in ResourceCost.model_fields.items() if not field.is_required())


class ResourceCosts(Sequence[ResourceCost]):
    """A sequence of `ResourceCost` stored by column; elements are created on access.

    In files and JSON documents it is a list of objects, and is validated as such; columns are not validated.
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, Sequence[Any]] | None = None) -> None:
        """Take a column per field of `ResourceCost`, all of equal length; none for an empty sequence."""
        self._columns = tuple(() if columns is None else columns[name] for name in _FIELDS)

    @classmethod
    def of(cls, costs: Iterable[ResourceCost]) -> ResourceCosts:
        """Return *costs* stored by column."""
        rows = [tuple(getattr(cost, name) for name in _FIELDS) for cost in costs]
        return cls(dict(zip(_FIELDS, zip(*rows, strict=True), strict=True)) if rows else None)

    def documents(self) -> list[dict[str, Any]]:
        """Return a dictionary of all fields for each element."""
        return [
            {
                "kind": kind,
                "name": name,
                "units": units,
                "busy": busy,
                "transactions": transactions,
                "waiting": waiting,
            }
            for kind, name, units, busy, transactions, waiting in zip(*self._columns, strict=True)
        ]

    def __len__(self) -> int:
        return len(self._columns[0])

    def __iter__(self) -> Iterator[ResourceCost]:
        return (ResourceCost(**document) for document in self.documents())

    @overload
    def __getitem__(self, index: int) -> ResourceCost: ...

    @overload
    def __getitem__(self, index: slice) -> ResourceCosts: ...

    def __getitem__(self, index: int | slice) -> ResourceCost | ResourceCosts:
        picked: dict[str, Any] = {name: column[index] for name, column in zip(_FIELDS, self._columns, strict=True)}
        return ResourceCosts(picked) if isinstance(index, slice) else ResourceCost(**picked)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ResourceCosts):
            return all(list(one) == list(two) for one, two in zip(self._columns, other._columns, strict=True))
        return isinstance(other, list | tuple) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(map(tuple, self._columns)))

    def __repr__(self) -> str:
        return f"ResourceCosts({list(self)!r})"

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        listed = core_schema.no_info_after_validator_function(cls.of, handler.generate_schema(tuple[ResourceCost, ...]))
        return core_schema.json_or_python_schema(
            json_schema=listed,
            python_schema=core_schema.union_schema([core_schema.is_instance_schema(cls), listed]),
            serialization=core_schema.plain_serializer_function_ser_schema(_serialized, info_arg=True),
        )


def _serialized(costs: ResourceCosts, info: SerializationInfo) -> list[dict[str, Any]]:
    documents = costs.documents()
    for document in documents if info.exclude_defaults else ():
        for name, default in _DEFAULTS:
            if document[name] == default:
                del document[name]
    return documents
