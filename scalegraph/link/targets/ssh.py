"""Another computer, reached by SSH: the program is built here, and runs and is measured there."""

from __future__ import annotations

import re
import shlex
import shutil
from typing import TYPE_CHECKING, Final

from scalegraph.base.errors import Fault, InputError, LinkLost, RunError
from scalegraph.link.targets.base import IS_MPI, Finding, Place, Setting, Target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scalegraph.base.cancel import CancelToken
    from scalegraph.base.run import RunRecord
    from scalegraph.link.job import Job

# With these options a computer that is down fails a run after 20 s, one that vanishes during a run after a minute.
_OPTIONS: Final = ("BatchMode=yes", "ConnectTimeout=20", "ServerAliveInterval=15", "ServerAliveCountMax=4")
_FAILED: Final = 255  # exit code of ssh if the connection fails, not the command
_HOST: Final = re.compile(r"([A-Za-z0-9_][\w.-]*@)?[A-Za-z0-9_][\w.:-]*")


class _Ssh(Target):
    """Runs a program on a computer that has the same ScaleGraph and architecture."""

    name = "ssh"
    title = "Another computer, by SSH"
    help = "The program runs on a computer that SSH reaches without a password, and is measured there"
    settings = (Setting("host", "", "Name of the computer, or user@name"), IS_MPI)
    takes_mpi = True
    measures = ("time", "regions", "waits", "messages", "counters", "trace")
    elsewhere = True
    order = 20

    def run(self, job: Job, cancel: CancelToken | None = None) -> RunRecord:
        """Return the record of one run measured there; raises as `Target.run` does."""
        from scalegraph.link.cluster import piped

        command, host = self._command(job.settings)
        return piped.measured_there(command, job, cancel, host, lost=_FAILED)

    def _command(self, settings: Mapping[str, str]) -> tuple[list[str], str]:
        """Return the command that starts ScaleGraph on the computer, and the computer's name."""
        from scalegraph.link.cluster import piped

        host = settings.get("host", "")
        if not _HOST.fullmatch(host):
            text = f"'{host}' is not a host" if host else "target 'ssh' has no host"
            raise InputError(Fault(f"{text}; expected host=NAME or host=USER@NAME", key="target.settings.host"))
        options = [word for option in _OPTIONS for word in ("-o", option)]
        return ["ssh", *options, host, shlex.join(piped.python())], host  # SSH passes it to a shell

    def reached(self, settings: Mapping[str, str]) -> Finding:
        """Connect, and return a description of the computer."""
        from scalegraph.link.cluster import piped

        command, host = self._command(settings)
        try:
            return Finding("ok", piped.describe(command, host))
        except (LinkLost, RunError) as error:
            return Finding("missing", str(error))

    def begin(self, settings: Mapping[str, str], cancel: CancelToken) -> None:
        """Connect once, so that a wrong host is reported before the build."""
        from scalegraph.link.cluster import piped

        piped.describe(*self._command(settings), cancel)

    def check(self) -> Finding:
        """Return whether SSH is installed; a host is reached only with the first run."""
        found = shutil.which("ssh")
        if found is None:
            return Finding("remark", "'ssh' was not found", "apt-get install openssh-client")
        return Finding("ok", f"{found}; name the computer with --target-set host=NAME")

    def processors(self) -> int | None:
        """Return ``None``: that computer decides."""
        return None

    def place(self) -> Place:
        """Return the other computer; each run's record has its name."""
        return Place("ssh", "another computer, by SSH", {})


TARGET = _Ssh()
