"""Another computer, reached by SSH: the program is built here, runs there and is measured there."""

from __future__ import annotations

import re
import shlex
import shutil
from typing import TYPE_CHECKING, Final

from scalegraph.base.errors import Fault, InputError
from scalegraph.link.targets.base import Finding, Place, Setting, Target

if TYPE_CHECKING:
    from scalegraph.base.cancel import CancelToken
    from scalegraph.base.run import RunRecord
    from scalegraph.link.job import Job

_HOST: Final = re.compile(r"([A-Za-z0-9_][\w.-]*@)?[A-Za-z0-9_][\w.:-]*")


class _Ssh(Target):
    """Runs a program on a computer that has the same ScaleGraph and architecture."""

    name = "ssh"
    title = "Another computer, by SSH"
    help = "The program runs on a computer that SSH reaches without a password, and is measured there"
    settings = (Setting("host", "", "Name of the computer, or user@name"),)
    elsewhere = True
    order = 20

    def run(self, job: Job, cancel: CancelToken | None = None) -> RunRecord:
        """Return the record of one run that is measured there; raises as `Target.run` says."""
        from scalegraph.link.cluster import piped

        host = job.settings.get("host", "")
        if not _HOST.fullmatch(host):
            text = f"'{host}' is no host" if host else "target 'ssh' has no host"
            raise InputError(Fault(f"{text}; expected host=NAME or host=USER@NAME", key="target.settings.host"))
        there = shlex.join(piped.python())  # SSH hands it to a shell
        return piped.measured_there(["ssh", "-o", "BatchMode=yes", host, there], job, cancel)

    def check(self) -> Finding:
        """Return whether there is SSH; a host is reached with the first run only."""
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
