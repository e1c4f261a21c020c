"""The near end of a scheduler or worker on a host that SSH reaches; `attended` is the far one."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any, Final

from distributed.deploy.spec import ProcessInterface

from scalegraph.link.cluster.attended import BEAT_S, READY
from scalegraph.link.cluster.certificates import Certificates
from scalegraph.link.cluster.ssh_hosts import Host, Refused

_MODULE: Final = "scalegraph.link.cluster.attended"
_STARTING_S: Final = 60.0
_CLOSING_S: Final = 10.0


class Attended(ProcessInterface):
    """A scheduler or worker on a host, kept alive by heartbeats from here; see `attended`."""

    def __init__(
        self,
        scheduler: str = "",
        name: str = "",
        *,
        host: Host,
        what: str,
        options: dict[str, Any],
        python: str,
        certificates: Certificates,
    ) -> None:
        super().__init__(scheduler=scheduler, name=name)
        named = {"name": name} if what == "worker" else {}
        self._order = {"what": what, "scheduler": scheduler, "options": {**options, **named}, **certificates.values()}
        self._host, self._python = host, python
        self._connection: Any = None
        self._process: Any = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start it; return when it has an address."""
        import asyncssh

        self._connection = await asyncssh.connect(self._host.name, **self._host.options)
        self._process = await self._connection.create_process(f"{self._python} -m {_MODULE}", stderr=asyncssh.STDOUT)
        self._process.stdin.write(json.dumps(self._order) + "\n")
        self.address = await asyncio.wait_for(self._ready(), _STARTING_S)
        self._tasks = [asyncio.create_task(self._live()), asyncio.create_task(self._drain())]
        await super().start()

    async def _ready(self) -> str:
        last = "it gave no reason"
        while line := await self._process.stdout.readline():
            if line.startswith(READY):
                return str(line.removeprefix(READY).strip())
            last = line.strip() or last
        raise Refused(f"{self._host.name}: its {self._order['what']} did not start: {last}")

    async def _live(self) -> None:
        """Send heartbeats."""
        with contextlib.suppress(OSError):
            while True:
                await asyncio.sleep(BEAT_S)
                self._process.stdin.write("\n")

    async def _drain(self) -> None:
        """Discard its output, so that it never blocks on a full pipe."""
        with contextlib.suppress(OSError):
            while await self._process.stdout.read(2**16):
                pass

    async def close(self) -> None:
        """End it by closing its standard input."""
        for task in self._tasks:
            task.cancel()
        if self._process is not None:
            with contextlib.suppress(OSError, TimeoutError):
                self._process.stdin.write_eof()
                await asyncio.wait_for(self._process.wait_closed(), _CLOSING_S)
        if self._connection is not None:
            self._connection.close()
        await super().close()
