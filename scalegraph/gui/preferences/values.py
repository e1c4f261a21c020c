"""The preferences as typed, validated data, read from and written to the settings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from scalegraph.gui.base.settings import Settings
from scalegraph.gui.base.style import TEXT_SIZE

_GROUP: Final = "preferences"
TEXT_SIZES: Final = (8, 16)  # points
AT_START: Final = {"start": "Start page", "last": "Last opened file"}


@dataclass(frozen=True)
class Preferences:
    """All preferences with defaults; `Settings.mode` keeps the theme."""

    text_size: int = TEXT_SIZE  # points
    at_start: str = "start"
    side_by_side: int = 0  # parallel runs; 0: by this computer's processors
    export_format: str = "png"
    export_natural: bool = True  # as high as the content needs
    export_width_cm: float = 16.0
    export_height_cm: float = 10.0
    export_dpi: int = 200
    export_colours: str = "print"
    machine: str = ""  # for new requests with a program of the user's own; empty: the default machine
    processors: str = ""  # the same, as typed


def read(settings: Settings) -> Preferences:
    """Return the preferences; unreadable values get their defaults."""
    found: dict[str, Any] = {}
    for name, default in asdict(Preferences()).items():
        text = settings.text(f"{_GROUP}/{name}")
        if text:
            try:
                found[name] = text == "True" if isinstance(default, bool) else type(default)(text)
            except ValueError:
                continue
    made = Preferences(**found)
    low, high = TEXT_SIZES
    return made if low <= made.text_size <= high and made.side_by_side >= 0 else Preferences()


def write(settings: Settings, preferences: Preferences) -> None:
    """Save *preferences*."""
    for name, value in asdict(preferences).items():
        settings.set_text(f"{_GROUP}/{name}", str(value))
