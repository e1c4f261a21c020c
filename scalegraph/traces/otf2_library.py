"""The OTF2 library by its C functions: events come as plain numbers, a location at a time.

The package ``otf2`` makes an object of every event; this is several times faster.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import io
import re
from collections.abc import Callable, Iterator
from typing import Any

from scalegraph.base.errors import MissingTool

INSTALL = "OTF2 needs the package otf2: pip install otf2"
BATCH = 1 << 16  # events between two progress reports

_u32, _u64, _pointer = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p
# arguments of a callback after location, time, position, user data and attributes
_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "Enter": (_u32,),
    "Leave": (_u32,),
    "MpiSend": (_u32, _u32, _u32, _u64),
    "MpiIsend": (_u32, _u32, _u32, _u64, _u64),
    "MpiIsendComplete": (_u64,),
    "MpiIrecvRequest": (_u64,),
    "MpiRecv": (_u32, _u32, _u32, _u64),
    "MpiIrecv": (_u32, _u32, _u32, _u64, _u64),
    "MpiCollectiveBegin": (),
    "MpiCollectiveEnd": (ctypes.c_uint8, _u32, _u32, _u64, _u64),
    "Metric": (_u32, ctypes.c_uint8, _pointer, _pointer),
    "OmpAcquireLock": (_u32, _u32),
    "OmpReleaseLock": (_u32, _u32),
    "ThreadAcquireLock": (ctypes.c_uint8, _u32, _u32),
    "ThreadReleaseLock": (ctypes.c_uint8, _u32, _u32),
    "OmpTaskCreate": (_u64,),
    "OmpTaskSwitch": (_u64,),
    "OmpTaskComplete": (_u64,),
    "ThreadTaskCreate": (_u32, _u32, _u32),
    "ThreadTaskSwitch": (_u32, _u32, _u32),
    "ThreadTaskComplete": (_u32, _u32, _u32),
}


def package() -> tuple[Any, Any]:
    """Return the modules ``otf2`` and ``_otf2``. Raises `MissingTool` if they are not installed."""
    try:
        return importlib.import_module("otf2"), importlib.import_module("_otf2")
    except (ImportError, OSError) as error:
        raise MissingTool(INSTALL) from error


def event_names() -> list[str]:
    """Return the names of the event kinds that this OTF2 knows, such as MpiSend."""
    package()
    module = importlib.import_module("_otf2.EvtReaderCallbacks")
    names = re.findall(r"EvtReaderCallbacks_Set(\w+)Callback", " ".join(dir(module)))
    return sorted(names)


class Callbacks:
    """Python functions that the library calls for events, with the time and the arguments in `_ARGUMENTS`.

    *others* is called with the name and time of an event without a function in *handle*.
    """

    def __init__(self, handle: dict[str, Callable[..., Any]], others: Callable[[str, int], Any]) -> None:
        _, low = package()
        library = importlib.import_module("_otf2.Config").conf.lib
        self.struct = low.EvtReaderCallbacks_New()
        self._kept: list[Any] = []
        for name in event_names():
            function = handle.get(name)
            arguments = _ARGUMENTS[name] if function else ()
            kind = ctypes.CFUNCTYPE(ctypes.c_int, _u64, _u64, _u64, _pointer, _pointer, *arguments)
            wrapped = kind(function or _other(others, name))
            self._kept.append(wrapped)  # the library holds only its address
            setter = ctypes.CFUNCTYPE(ctypes.c_int, _pointer, kind)(
                ctypes.cast(getattr(library, f"OTF2_EvtReaderCallbacks_Set{name}Callback"), _pointer).value or 0
            )
            setter(ctypes.cast(self.struct, _pointer), wrapped)


def _other(others: Callable[[str, int], Any], name: str) -> Callable[..., int]:
    def call(_location: int, time: int, _position: int, _data: Any, _attributes: Any) -> int:
        others(name, time)
        return 0

    return call


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Keep the library from printing errors to standard error; it returns them anyway."""
    package()
    library = importlib.import_module("_otf2.Config").conf.lib
    kind = ctypes.CFUNCTYPE(
        ctypes.c_int, _pointer, ctypes.c_char_p, _u64, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, _pointer
    )
    keep = kind(lambda _data, _file, _line, _function, code, _text, _values: code)
    register = library.OTF2_Error_RegisterCallback
    register.argtypes, register.restype = [_pointer, _pointer], _pointer
    before = register(ctypes.cast(keep, _pointer), None)
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # the package prints exceptions in its own callbacks
            yield
    finally:
        register(before, None)
        del keep
