"""Connections to Dask: a scheduler that runs already, or a cluster that is started; for the courier's process only."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

from scalegraph.link.cluster.places import Where

LINGER_S: Final = 600.0
_TIMEOUT_S: Final = 20.0
_BEFORE_S: Final = 3.0  # for a scheduler that an earlier ScaleGraph has left, which may be gone
_MEMORY: Final = "2 GiB"
_BATCH_CLASSES: Final = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "lsf": "LSFCluster", "sge": "SGECluster"}
_PROJECT: Final = ("lsf", "sge")  # where an account is called a project


class Unreachable(Exception):  # noqa: N818 - reads as what it is in an except clause
    """There is no connection; the text is a sentence."""


@dataclass(frozen=True)
class Connected:
    """A *client*, the address of its *scheduler*, and whose that is.

    *own*: it was started here; *adopted*: an earlier ScaleGraph left it. *expected*: workers that were requested.
    """

    client: Any
    scheduler: str
    own: bool = False
    adopted: bool = False
    expected: int = 0


@contextlib.asynccontextmanager
async def connected(where: Where, before: str = "") -> AsyncIterator[Connected]:
    """Yield a connection to *where*; to the scheduler at *before*, which was left there, if it still answers.

    Raises `Unreachable`.
    """
    if before:
        with contextlib.suppress(OSError, TimeoutError):
            async with await _client(before, _BEFORE_S, None) as client:
                yield Connected(client, before, adopted=True)
                return
    if where.kind in ("tcp", "tls"):
        async with await _reached(where) as client:
            yield Connected(client, where.address)
        return
    try:
        cluster, expected = await _cluster(where)
    except Exception as error:
        raise Unreachable(f"{where.address}: no workers could be started: {error}") from error
    async with cluster, await _client(cluster, _TIMEOUT_S, None) as client:
        yield Connected(client, cluster.scheduler_address, own=True, expected=expected)


async def _reached(where: Where) -> Any:
    security = None
    if where.kind == "tls":
        from distributed.security import Security

        files = {name: where.settings.get(f"tls-{name}") for name in ("ca", "cert", "key")}
        security = Security(
            tls_ca_file=files["ca"],
            tls_client_cert=files["cert"],
            tls_client_key=files["key"],
            require_encryption=True,
        )
    try:
        await _listening(where)  # Dask itself would go on asking a port that is closed
        return await _client(where.address, _TIMEOUT_S, security)
    except (OSError, TimeoutError, RuntimeError, ValueError, TypeError) as error:
        why = os.strerror(error.errno).lower() if isinstance(error, OSError) and error.errno else error
        raise Unreachable(f"{where.address}: no Dask scheduler answers there: {why}") from error


async def _listening(where: Where) -> None:
    host, _colon, port = where.rest.strip("/").rpartition(":")
    _reader, writer = await asyncio.wait_for(asyncio.open_connection(host.strip("[]"), int(port)), _TIMEOUT_S)
    writer.close()


async def _client(address: Any, timeout: float, security: Any) -> Any:
    from distributed import Client

    more = {} if security is None else {"security": security}
    return await Client(address, asynchronous=True, timeout=timeout, set_as_default=False, **more)


async def _cluster(where: Where) -> tuple[Any, int]:
    """Return a cluster that is started, and the workers that it shall have."""
    if where.kind == "local":
        from distributed import LocalCluster

        number = int(where.rest)
        threads = int(where.number("threads", 1))
        options = {"processes": True, "dashboard_address": None, "host": "127.0.0.1", "memory_limit": 0}
        made = LocalCluster(n_workers=number, threads_per_worker=threads, asynchronous=True, **options)
        return await made, number
    if where.kind == "ssh":
        return await _ssh(where)
    import dask_jobqueue

    kind = getattr(dask_jobqueue, _BATCH_CLASSES[where.kind])
    number = int(where.number("workers", 1))
    cluster = await kind(asynchronous=True, **batch_options(where))
    cluster.scale(jobs=number)
    return cluster, number


async def _ssh(where: Where) -> tuple[Any, int]:
    from distributed import SSHCluster

    hosts = where.rest.split(",")
    user = {"username": where.settings["user"]} if "user" in where.settings else {}
    # the first host is the scheduler's and a worker's
    made = SSHCluster(
        [hosts[0], *hosts],
        connect_options=user,
        worker_options={"nthreads": int(where.number("threads", 1))},
        scheduler_options={"dashboard": False},
        remote_python=where.settings.get("python", sys.executable),
        asynchronous=True,
    )
    return await made, len(hosts)


def batch_options(where: Where) -> dict[str, Any]:
    """Return the options of dask-jobqueue for the settings of *where*."""
    settings = where.settings
    options: dict[str, Any] = {
        "cores": int(where.number("cores", 1)),
        "processes": 1,
        "memory": settings.get("memory", _MEMORY),
        "walltime": settings.get("walltime", "01:00:00"),
        "python": shlex.quote(settings.get("python", sys.executable)),
        "scheduler_options": {"dashboard": False},
    }
    names = {
        "partition": "queue",
        "account": "project" if where.kind in _PROJECT else "account",
        "interface": "interface",
        "log-directory": "log_directory",
    }
    options |= {option: settings[name] for name, option in names.items() if name in settings}
    if "directives" in settings:
        options["job_extra_directives"] = [part.strip() for part in settings["directives"].split(",")]
    if "prologue" in settings:
        options["job_script_prologue"] = [settings["prologue"]]
    return options
