"""Checks whether a display can be reached, without Qt: Qt aborts the process if there is none."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_PATIENCE_S: Final = 5.0
_X_PORT: Final = 6000


def unreachable(environment: Mapping[str, str]) -> str:
    """Return why neither the compositor nor the X server in *environment* can be reached; "" if one can."""
    wayland, display = environment.get("WAYLAND_DISPLAY", ""), environment.get("DISPLAY", "")
    if wayland and _answers(socket.AF_UNIX, str(_wayland_path(wayland, environment))):
        return ""
    if display:
        return "" if _x_answers(display) else f"no display (DISPLAY is {display}, but nothing answers there)"
    if wayland:
        return f"no display (WAYLAND_DISPLAY is {wayland}, but nothing answers there)"
    return ""


def _wayland_path(name: str, environment: Mapping[str, str]) -> Path:
    return Path(environment.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")) / name


def _x_answers(display: str) -> bool:
    match = re.fullmatch(r"(?:(?P<host>[^:]*)(?:/unix)?)?:(?P<number>\d+)(?:\.\d+)?", display)
    if match is None:
        return display.startswith("/") and _answers(socket.AF_UNIX, display)
    host, number = match["host"], int(match["number"])
    if host in ("", "unix"):
        path = f"/tmp/.X11-unix/X{number}"
        return _answers(socket.AF_UNIX, path) or _answers(socket.AF_UNIX, "\0" + path)
    return _answers(socket.AF_INET, (host, _X_PORT + number))


def _answers(family: socket.AddressFamily, address: str | tuple[str, int]) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as asking:
        asking.settimeout(_PATIENCE_S)
        try:
            asking.connect(address)
        except OSError:
            return False
    return True
