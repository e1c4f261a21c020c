"""What another account tries at the ports of a cluster: ``python -m tests.cluster.intruder UID MARK PORT..``.

It first becomes the user UID. If it gets a scheduler, worker or nanny to execute code, that code writes the file MARK.
It prints which ports answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import urllib.request
from pathlib import Path
from typing import Any

import distributed.protocol.pickle  # noqa: F401 - loads everything before this process gives up the right to read it
from distributed import Client, Worker
from distributed.core import rpc
from distributed.security import Security

_PATIENCE_S = 1.5


def _touch(mark: str) -> None:
    Path(mark).write_text("executed")


async def _as_client(address: str, security: Any, mark: str) -> None:
    client = Client(address, asynchronous=True, timeout=_PATIENCE_S, security=security, set_as_default=False)
    try:
        async with asyncio.timeout(_PATIENCE_S):
            await client
            await client.run_on_scheduler(_touch, mark)
            await client.run(_touch, mark)
    finally:
        with contextlib.suppress(Exception):
            await client.close(timeout=1)


async def _as_peer(address: str, security: Any, mark: str) -> None:
    """Ask as a scheduler would ask a worker, or a worker its nanny."""
    from distributed.protocol.pickle import dumps

    peer = rpc(address, connection_args=(security or Security()).get_connection_args("client"), timeout=_PATIENCE_S)
    try:
        async with asyncio.timeout(_PATIENCE_S):
            await peer.run(function=dumps(_touch), args=dumps((mark,)))
    finally:
        with contextlib.suppress(Exception):
            await peer.close_rpc()


async def _as_worker(address: str, security: Any, _mark: str) -> None:
    """Offer to execute runs of the other account."""
    more = {"security": security} if security else {}
    async with asyncio.timeout(_PATIENCE_S), Worker(address, nthreads=1, dashboard=False, **more):
        print("joined as a worker", flush=True)


def _as_browser(port: int) -> None:
    with (
        contextlib.suppress(OSError),
        urllib.request.urlopen(f"http://127.0.0.1:{port}/info/main/workers.html") as page,
    ):
        print(f"page {page.status}", flush=True)


async def _attack(ports: list[int], mark: str) -> None:
    for port in ports:
        _as_browser(port)
        for scheme, security in (("tcp", None), ("tls", Security.temporary())):
            for attempt in (_as_client, _as_peer, _as_worker):
                with contextlib.suppress(Exception):
                    await attempt(f"{scheme}://127.0.0.1:{port}", security, mark)


def main() -> None:
    """Become the other account and try everything at every port."""
    uid, mark, *ports = sys.argv[1:]
    os.setgroups([])
    os.setgid(int(uid))
    os.setuid(int(uid))
    os.environ["TMPDIR"] = str(Path(mark).parent)
    os.chdir(Path(mark).parent)
    asyncio.run(_attack([int(port) for port in ports], mark))
    print("tried", flush=True)


if __name__ == "__main__":
    main()
