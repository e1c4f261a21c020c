"""What made others wait in a run, and what messages cost by call."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

_Count: TypeAlias = Annotated[int, Field(ge=-(2**63), lt=2**63)]


class Delay(BaseModel):
    """Cycles of one place and one category of waiting.

    *regions*: ids of the regions that one is in there, the outermost first; *kind* of `runtime.observed.DELAY_KINDS`;
    *file*, *line*: of the call, for kinds that have one; *call*: what is called there, as the runtime or the source
    says; *caller*: ``file:line`` of the call of the function that the call is in, where that only wraps it.

    *own*: cycles that messages cost here, *worked*: of kinds that are no call, all that was spent here, *waited*: of
    waiting here whose cause is known, *caused*: that others waited for what happened here.
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
