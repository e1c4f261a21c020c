"""Starts the C compiler wrapper: the common case runs in a program in C (csrc/launcher), anything else in `wrapper`.

This module imports next to nothing: with what the wrapper imports, starting took as long as half of a compilation.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - pathlib is slow
# Whoever sets one of these wants something else than the common case.
_WISHES = ("DETAIL", "FOR", "LOOPS", "INLINE", "CC", "WRAPPER")
_LEFT = 125  # the launcher's exit code if it has done nothing


def plan_path(root: str) -> str:
    """Return the place of the launcher's plan below the cache directory *root*, see `launching`."""
    return f"{root}/launchers/{_PACKAGE.replace('/', '%')[-200:]}.plan"


def cc() -> NoReturn:
    """Run as ``scalegraph-cc``."""
    code = _launched(sys.argv[1:])
    if code == _LEFT:
        from scalegraph.toolchain import wrapper

        wrapper.cc()
    os._exit(code)  # nothing is left to do; ending Python in order takes a tenth of its time


def _launched(words: list[str]) -> int:
    """Return the exit code of the launcher, `_LEFT` if there is none."""
    given = os.environ.get
    behind = given("CC", "").split()
    ours = not behind or os.path.basename(behind[0]).startswith("scalegraph-")  # noqa: PTH119
    if "-c" not in words or not ours or any(given(f"SCALEGRAPH_{name}") for name in _WISHES):
        return _LEFT
    # As `runtime.cache.cache_root`, for which platformdirs would have to be imported.
    users = given("XDG_CACHE_HOME", "").strip() or os.path.expanduser("~/.cache")  # noqa: PTH111
    plan = plan_path(given("SCALEGRAPH_CACHE") or f"{users}/scalegraph")
    try:
        with open(plan, encoding="utf-8") as stream:  # noqa: PTH123
            status = os.fstat(stream.fileno())
            package, launcher = stream.readline()[:-1], stream.readline()[:-1]
        if status.st_uid != os.getuid() or status.st_mode & 0o022 or package != f"package {_PACKAGE}":
            return _LEFT
        launcher = launcher.removeprefix("launcher ")
        process = os.posix_spawn(launcher, [launcher, plan, *words], os.environ)
    except (OSError, ValueError):
        return _LEFT
    try:
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    except ChildProcessError:  # whoever started us ignores SIGCHLD
        return _LEFT
    except KeyboardInterrupt:
        return 130
    return code if code >= 0 else _LEFT


if __name__ == "__main__":
    cc()
