"""The preferences as data: typed, checked, read from and written to the settings."""

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
    """Everything with its default; the theme is kept by `Settings.mode`."""

    text_size: int = TEXT_SIZE  # points
    at_start: str = "start"
    side_by_side: int = 0  # runs; 0: by the processors of this computer
    export_format: str = "png"
    export_natural: bool = True  # as high as the content needs
    export_width_cm: float = 16.0
    export_height_cm: float = 10.0
    export_dpi: int = 200
    export_colours: str = "print"
    machine: str = ""  # of a new request with a program of the user's own; empty: the usual one
    processors: str = ""  # likewise, as they are typed


def read(settings: Settings) -> Preferences:
    """Return the preferences; what cannot be read has its default."""
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
    """Keep *preferences*."""
    for name, value in asdict(preferences).items():
        settings.set_text(f"{_GROUP}/{name}", str(value))
