"""Build of a wheel: manual pages, completion and the simulator's objects are made, not kept in the repository.

A hook of Hatchling runs ``docs/make_share.py``. That imports the commands, so an isolated build needs what they import;
this module is also the build backend, to say so. Meanwhile the simulator is compiled, if there is a compiler: the first
command takes those objects whose key says that it would compile the same. An editable installation goes without both.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import hatchling.build
from hatchling.build import *  # noqa: F403 - a backend is the module's functions
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

ROOT = Path(__file__).parent
_LATE = ("pyside6", "pyqtgraph", "matplotlib")  # no command imports these to show its help
_COMPILE = """\
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from scalegraph.base.errors import ScaleGraphError
from scalegraph.runtime.library import write_objects
try:
    write_objects(Path(sys.argv[2]))
except ScaleGraphError as error:
    sys.exit(f"the first command will compile the simulator: {error}")
"""


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """Return what a build needs beside Hatchling: all that is needed to import the commands."""
    needed = ProjectMetadata(str(ROOT), PluginManager()).core.dependencies
    commands = [name for name in needed if not name.lower().startswith(_LATE)]
    return [*hatchling.build.get_requires_for_build_wheel(config_settings), *commands]


class Share(BuildHookInterface[Any]):
    """Adds to a wheel what ``docs/make_share.py`` writes, and the simulator's objects."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write it into a directory of this build."""
        if version == "editable":
            return
        self._made = tempfile.TemporaryDirectory(prefix="scalegraph-share-")
        made = Path(self._made.name)
        compiling = subprocess.Popen([sys.executable, "-c", _COMPILE, str(ROOT), str(made / "compiled")])
        done = subprocess.run([sys.executable, str(ROOT / "docs" / "make_share.py"), str(made)], check=False)
        compiled = compiling.wait() == 0
        if done.returncode:
            raise RuntimeError("manual pages and completion could not be made: install the dependencies first")
        if compiled:
            build_data["force_include"][str(made / "compiled")] = "scalegraph/runtime/compiled"
        build_data["shared_data"][str(made / "share")] = "share"
        build_data["force_include"][str(made / "words.json")] = "scalegraph/cli/completion/words.json"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the directory."""
        if version != "editable":
            self._made.cleanup()
