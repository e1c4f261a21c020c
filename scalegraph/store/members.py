"""The choices of machine, split, schedule and so on that a study has runs of, as stored in the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from scalegraph.base.errors import StoreError
from scalegraph.base.points import AXES, setting_id

_SETTINGS: Final = TypeAdapter(tuple[dict[str, str], ...])


class Choices:
    """The choices of a study as read from its file at *version*; None: not read yet."""

    def __init__(self) -> None:
        self.version: int | None = None
        self.take(({},), None)

    def take(self, settings: tuple[Mapping[str, str], ...], version: int | None) -> None:
        """Set the choices to *settings*, read at *version*."""
        self.settings, self.version = settings, version
        self.by_id = {setting_id(one): one for one in reversed(settings)}
        self.first = setting_id(settings[0])


def read(kept: Any, place: Path) -> tuple[Mapping[str, str], ...]:
    """Return the choices in *kept*; ``({},)`` if there are none: a study of one choice.

    Raises `StoreError` naming *place* if the file contains something else.
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
