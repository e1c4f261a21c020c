"""Clusters on hosts reached by SSH: a scheduler and workers, each attended by a connection of its own."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import shlex
import sys
from dataclasses import dataclass
from typing import Any, Final

import scalegraph
from scalegraph.base.units import seconds
from scalegraph.link.cluster.certificates import Certificates
from scalegraph.link.cluster.places import Where

_TIMEOUT_S: Final = 20.0
_IMPORTING_S: Final = 90.0  # for Python there to load a worker's modules, perhaps from a remote file system
_OPTIONS: Final = {
    "connect_timeout": _TIMEOUT_S,
    "login_timeout": _TIMEOUT_S,
    "keepalive_interval": 15,
    "keepalive_count_max": 4,
}
_VERSION: Final = "scalegraph-version"  # comes after anything that a login prints


class Refused(Exception):  # noqa: N818 - reads as what it is in an except clause
    """Hosts cannot run a scheduler or a worker; the text says which and why."""


def why(error: OSError) -> str:
    """Return the system's words for *error*; the resolver numbers its own errors below 0."""
    if error.errno and error.errno > 0:
        return os.strerror(error.errno).lower()
    return (error.strerror or str(error) or "no answer").lower()


@dataclass(frozen=True)
class Host:
    """A computer reached by SSH: its *name*, and *options* of the connection."""

    name: str
    options: dict[str, Any]


def host_of(text: str, where: Where) -> Host:
    """Parse ``user@name:port``, where user and port are optional."""
    user, _at, rest = text.rpartition("@")
    name, _colon, port = rest.partition(":")
    user = user or where.settings.get("user", "")
    more = {**({"username": user} if user else {}), **({"port": int(port)} if port else {})}
    return Host(name, {**_OPTIONS, **more})


async def cluster(where: Where, certificates: Certificates) -> tuple[Any, int]:
    """Start a cluster on the hosts of *where*; return it and its number of workers; raise `Refused`."""
    from distributed.deploy.spec import SpecCluster

    from scalegraph.link.cluster.attending import Attended

    hosts = [host_of(text, where) for text in where.rest.split(",")]
    python = shlex.quote(where.settings.get("python", sys.executable))
    found = await asyncio.gather(*(_found(host, python) for host in hosts))
    if faults := [one for one in found if isinstance(one, str)]:
        raise Refused(f"no runs can go to {'; '.join(faults)}")
    # A scheduler and workers that are all on this computer need not listen to others.
    here = {"host": "127.0.0.1"} if all(one is True for one in found) else {}
    common = {"python": python, "certificates": certificates}
    options = {"nthreads": int(where.number("threads", 1)), "memory_limit": 0, **here}
    workers = {
        f"{number}-{host.name}": {
            "cls": Attended,
            "options": {"host": host, "what": "worker", "options": options, **common},
        }
        for number, host in enumerate(hosts)
    }
    first = {"cls": Attended, "options": {"host": hosts[0], "what": "scheduler", "options": here, **common}}
    made: Any = SpecCluster(workers, first, asynchronous=True, security=certificates.security(), name="ssh")
    try:
        return await made, len(hosts)
    except BaseException:
        with contextlib.suppress(Exception):
            await made.close()  # whatever has already started
        raise


async def _found(host: Host, python: str) -> str | bool:
    """Return why *host* cannot run a worker; if it can, whether it is this computer by a loopback address."""
    import asyncssh

    program = f"import distributed, scalegraph; print({_VERSION!r}, scalegraph.__version__)"
    try:
        async with asyncssh.connect(host.name, **host.options) as connection:
            peer = connection.get_extra_info("peername")
            done = await connection.run(f"{python} -c {shlex.quote(program)}", timeout=_IMPORTING_S)
    except asyncssh.TimeoutError:
        return f"{host.name}: {python} there did not load ScaleGraph and Dask in {seconds(_IMPORTING_S)}"
    except (OSError, asyncssh.Error, TimeoutError) as error:
        reason = why(error) if isinstance(error, OSError) else str(error) or "no answer"
        return f"{host.name}: SSH does not reach it: {reason}; `ssh {host.name}` must work without a prompt"
    said = str(done.stdout).rpartition(_VERSION)[2].strip()
    if done.exit_status != 0 or not said:
        last = str(done.stderr).strip().splitlines()[-1:]
        return f"{host.name}: {python} there has no ScaleGraph with Dask: {''.join(last) or 'it gave no reason'}"
    if said != scalegraph.__version__:
        return f"{host.name}: it has ScaleGraph {said}; {scalegraph.__version__} was expected, as here"
    with contextlib.suppress(ValueError, TypeError, IndexError):
        return ipaddress.ip_address(peer[0]).is_loopback
    return False
