"""An SSH server for tests, without passwords: prints its port, ends with its standard input.

It executes commands in a shell, like sshd. Its argument is a directory in which it writes its keys and the clients'
``.ssh/config``, ``.ssh/id`` and ``.ssh/known_hosts``: with this directory as home, SSH reaches it by the names
``node1`` and ``node2``.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from pathlib import Path

import asyncssh

NAMES = ("node1", "node2")


async def serve(process: asyncssh.SSHServerProcess[bytes]) -> None:
    """Execute the command of one session."""
    child = await asyncio.create_subprocess_shell(
        process.command or "true",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "LC_ALL": "C"},
        start_new_session=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    taking = asyncio.create_task(_take(process.stdin, child.stdin))
    await asyncio.gather(_pass(child.stdout, process.stdout), _pass(child.stderr, process.stderr))
    taking.cancel()
    process.exit(await child.wait())


async def _take(source: asyncssh.SSHReader[bytes], sink: asyncio.StreamWriter) -> None:
    """Pass on standard input and its end; the end also means that the connection has closed."""
    with contextlib.suppress(OSError, asyncssh.Error):
        while data := await source.read(2**16):
            sink.write(data)
            await sink.drain()
    sink.close()


async def _pass(source: asyncio.StreamReader, sink: asyncssh.SSHWriter[bytes]) -> None:
    while data := await source.read(2**16):
        sink.write(data)


async def main(home: Path) -> None:
    place = home / ".ssh"
    place.mkdir(parents=True)
    host, user = asyncssh.generate_private_key("ssh-ed25519"), asyncssh.generate_private_key("ssh-ed25519")
    user.write_private_key(place / "id")
    user.write_public_key(place / "authorized")
    server = await asyncssh.create_server(
        asyncssh.SSHServer,
        "127.0.0.1",
        0,
        server_host_keys=[host],
        process_factory=serve,
        encoding=None,
        authorized_client_keys=str(place / "authorized"),
    )
    port = server.sockets[0].getsockname()[1]
    key = host.export_public_key().decode().strip()
    (place / "known_hosts").write_text(f"[127.0.0.1]:{port} {key}\n")
    (place / "config").write_text(
        f"Host {' '.join(NAMES)}\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {place}/id\n"
        f"  UserKnownHostsFile {place}/known_hosts\n"
    )
    print(port, flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
