"""The choices of machine, split, schedule and so on that a study has runs of, as the file keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from scalegraph.base.errors import StoreError
from scalegraph.base.points import AXES

_SETTINGS: Final = TypeAdapter(tuple[dict[str, str], ...])


def read(kept: Any, place: Path) -> tuple[Mapping[str, str], ...]:
    """Return the choices in *kept*, ``({},)`` where nothing is kept: a study of one choice.

    Raises `StoreError` naming *place* where the file holds something else.
    """
    if kept is None:
        return ({},)
    try:
        found = _SETTINGS.validate_python(tuple(kept) if isinstance(kept, list) else kept, strict=True)
    except ValidationError as error:
        raise StoreError(f"{place}: is damaged: its members: {error.errors()[0]['msg'].lower()}") from None
    if not found or any(name not in AXES for setting in found for name in setting):
        raise StoreError(f"{place}: is damaged: its members: choices of {', '.join(AXES)} were expected")
    return found
