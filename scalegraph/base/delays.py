"""What made others wait in a run, and the cost of messages by call."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

_Count: TypeAlias = Annotated[int, Field(ge=-(2**63), lt=2**63)]


class Delay(BaseModel):
    """Cycles of one place for one category of waiting.

    *regions*: ids of the enclosing regions, outermost first; *kind* from `runtime.observed.DELAY_KINDS`; *file*,
    *line*: of the call, for kinds that have one; *call*: the function called there, as named by runtime or source;
    *caller*: if the call is made in a mere wrapper, ``file:line`` of the call of that wrapper.

    *own*: cycles that messages cost here; *worked*: for kinds other than calls, all cycles spent here; *waited*:
    waiting here whose cause is known; *caused*: waiting of others due to this place.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    regions: tuple[int, ...] = ()
    kind: str = "work"
    category: str = ""
    file: str = ""
    line: int = 0
    call: str = ""
    caller: str = ""
    own: _Count = 0
    worked: _Count = 0
    waited: _Count = 0
    caused: _Count = 0
