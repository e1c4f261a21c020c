"""Connections to Dask, to a running scheduler or to a cluster started here; only the courier's process uses this."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from scalegraph.base.units import seconds
from scalegraph.base.workplaces import workplace
from scalegraph.link.cluster import ssh_hosts
from scalegraph.link.cluster.attended import DIRECTORY
from scalegraph.link.cluster.batch_reaper import Reaper
from scalegraph.link.cluster.batch_workers import OWN_LOGS, delete, keep
from scalegraph.link.cluster.certificates import Certificates
from scalegraph.link.cluster.places import OTHERS, Where
from scalegraph.link.cluster.ssh_hosts import why

LINGER_S: Final = 45.0
_TIMEOUT_S: Final = 20.0
_STARTING_S: Final = 180.0  # for workers to start or be submitted
_CLOSING_S: Final = 20.0
_BEFORE_S: Final = 3.0  # for a scheduler left by an earlier ScaleGraph, which may be gone
_NEVER: Final = "365 days"
_ORPHANED_S: Final = 30  # how long a batch job's worker searches for its scheduler
_MEMORY: Final = "2 GiB"
_BATCH_CLASSES: Final = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "lsf": "LSFCluster", "sge": "SGECluster"}
_PROJECT: Final = ("lsf", "sge")  # systems that call an account a project


class Unreachable(Exception):  # noqa: N818 - reads as what it is in an except clause
    """There is no connection; the text is a full sentence."""


@dataclass(frozen=True)
class Connected:
    """A *client*, and how a later ScaleGraph reaches the same scheduler: *contact*, empty where the address is enough.

    *own*: it was started here; *adopted*: an earlier ScaleGraph left it. *expected*: workers requested. *failure*: ends
    with a sentence when no more workers will come.
    """

    client: Any
    contact: Mapping[str, str] = field(default_factory=dict)
    own: bool = False
    adopted: bool = False
    expected: int = 0
    failure: asyncio.Task[str] | None = None


@contextlib.asynccontextmanager
async def connected(where: Where, before: Mapping[str, str]) -> AsyncIterator[Connected]:
    """Yield a connection to *where*, or to an earlier ScaleGraph's scheduler (contact *before*) if it still answers.

    That scheduler must present the certificate in the contact. Raises `Unreachable`.
    """
    if (certificates := Certificates.of(before)) is not None and before["scheduler"].startswith("tls://"):
        with contextlib.suppress(OSError, TimeoutError):
            client = await _client(before["scheduler"], _TIMEOUT_S, certificates.security(), _BEFORE_S)
            async with client:
                yield Connected(client, before, adopted=True)
                return
    if where.kind in OTHERS:
        async with await _reached(where) as client:
            yield Connected(client)
        return
    certificates = Certificates.made()
    async with contextlib.AsyncExitStack() as stack:
        there, security = stack.enter_context(_prepared(where, certificates))
        reaper = stack.enter_context(Reaper(where.kind)) if where.kind in _BATCH_CLASSES else None
        cluster, expected = await asyncio.wait_for(_started(there, certificates, security, reaper), _STARTING_S)
        stack.push_async_callback(_ended, cluster, there)
        client = await _client(cluster, _TIMEOUT_S, None)
        stack.push_async_callback(_parted, client)
        contact = {"scheduler": cluster.scheduler_address, **certificates.values()}
        kept = asyncio.create_task(keep(cluster, there, expected)) if where.kind in _BATCH_CLASSES else None
        try:
            yield Connected(client, contact, own=True, expected=expected, failure=kept)
        finally:
            if kept is not None:  # before the workers end, or it would submit replacements
                kept.cancel()
                await asyncio.gather(kept, return_exceptions=True)


async def _parted(client: Any) -> None:
    """Close *client*."""
    with contextlib.suppress(Exception):  # of a scheduler that another ScaleGraph has ended
        await client.close(timeout=_CLOSING_S)


async def _ended(cluster: Any, where: Where) -> None:
    """Close *cluster*; delete the batch jobs that are left."""
    numbers = {str(job.job_id) for job in cluster.workers.values() if getattr(job, "job_id", None)}
    with contextlib.suppress(Exception):
        await asyncio.wait_for(cluster.close(), _CLOSING_S)
    if where.kind in _BATCH_CLASSES:
        numbers |= {str(job.job_id) for job in cluster.workers.values() if getattr(job, "job_id", None)}
        await asyncio.to_thread(delete, where.kind, numbers)


@contextlib.contextmanager
def _prepared(where: Where, certificates: Certificates) -> Iterator[tuple[Where, Any]]:
    """Yield *where* with directories for its workers' files, and the security settings of its connections.

    By default Dask would write to, and import Python modules from, a directory with a name that every account knows.
    """
    import dask

    with contextlib.ExitStack() as stack:
        dask.config.set({"temporary-directory": str(stack.enter_context(workplace(DIRECTORY)))})
        if where.kind not in _BATCH_CLASSES:
            yield where, certificates.security()
            return
        there = stack.enter_context(logged(where))
        # Next to the jobs' logs: that directory is shared between the nodes and this computer.
        place = _own_place(where, stack)
        yield there, certificates.written(place)


@contextlib.contextmanager
def logged(where: Where) -> Iterator[Where]:
    """Yield *where*, a batch system with a log directory; removed at the end if we made it."""
    if where.kind not in _BATCH_CLASSES or "log-directory" in where.settings:
        yield where
        return
    with contextlib.ExitStack() as stack:
        yield replace(where, settings={**where.settings, "log-directory": str(_own_place(where, stack))})


def _own_place(where: Where, stack: contextlib.ExitStack) -> Path:
    """Return a private directory that the nodes of a batch system share."""
    try:
        return stack.enter_context(workplace(OWN_LOGS, Path.cwd(), shared=True))
    except OSError as error:
        text = f"batch jobs need a writable directory here: {why(error)}; start ScaleGraph in another directory"
        raise Unreachable(f"{where.name}: {text}") from error


async def _started(where: Where, certificates: Certificates, security: Any, reaper: Reaper | None) -> tuple[Any, int]:
    """Start or submit the workers of *where*; return the cluster and their number."""
    cluster = None
    try:
        cluster, expected = await _cluster(where, certificates, security, reaper)
        return await cluster, expected
    except ssh_hosts.Refused as error:
        raise Unreachable(f"{where.name}: {error}") from error
    except BaseException as error:
        if cluster is not None:
            with contextlib.suppress(Exception):
                await cluster.close()
        if not isinstance(error, Exception):  # a request to stop
            raise
        text = f"'{error.filename}' was not found" if isinstance(error, FileNotFoundError) else str(error)
        last = [line.strip() for line in text.splitlines() if line.strip()][-1:] or [type(error).__name__]
        raise Unreachable(f"{where.name}: no workers could be started: {last[0]}") from error


async def _reached(where: Where) -> Any:
    """Return a client of the scheduler at *where*, within `_TIMEOUT_S`, whatever listens there."""
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
        async with asyncio.timeout(_TIMEOUT_S):
            await _listening(where)  # Dask itself would keep retrying a closed port
            return await _client(where.address, _TIMEOUT_S, security)
    except TimeoutError as error:
        raise Unreachable(
            f"{where.address}: no Dask scheduler answers there: something listens, but did not speak as one within "
            f"{seconds(_TIMEOUT_S)}"
        ) from error
    except (OSError, RuntimeError, ValueError, TypeError) as error:
        reason = why(error) if isinstance(error, OSError) else error
        raise Unreachable(f"{where.address}: no Dask scheduler answers there: {reason}") from error


async def _listening(where: Where) -> None:
    host, _colon, port = where.rest.strip("/").rpartition(":")
    _reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    writer.close()


async def _client(address: Any, timeout: float, security: Any, first: float | None = None) -> Any:
    """Return a client connected within *first* seconds, or *timeout* if None; *timeout* applies to later requests.

    If this is stopped or fails, the client is closed.
    """
    from distributed import Client

    more = {} if security is None else {"security": security}
    client = Client(address, asynchronous=True, timeout=timeout, set_as_default=False, **more)
    try:
        async with asyncio.timeout(first or timeout):
            return await client
    except BaseException:
        with contextlib.suppress(Exception):
            await client.close(timeout=1)
        raise


async def _cluster(where: Where, certificates: Certificates, security: Any, reaper: Reaper | None) -> tuple[Any, int]:
    """Start a cluster; return it and the number of workers that it should have. *reaper* is told of its batch jobs."""
    if where.kind == "local":
        import dask
        from distributed import LocalCluster

        # Dask gives up a place whose worker is not back in time, which happens on a busy computer.
        dask.config.set({"distributed.deploy.lost-worker-timeout": _NEVER})
        number = int(where.rest)
        threads = int(where.number("threads", 1))
        options = {
            "processes": True,
            "dashboard_address": None,
            "host": "127.0.0.1",
            "protocol": "tls://",
            "memory_limit": 0,
            "security": security,
        }
        made = LocalCluster(n_workers=number, threads_per_worker=threads, asynchronous=True, **options)
        return await made, number
    if where.kind == "ssh":
        return await ssh_hosts.cluster(where, certificates)
    import dask_jobqueue

    kind = getattr(dask_jobqueue, _BATCH_CLASSES[where.kind])
    number = int(where.number("workers", 1))
    more = {} if reaper is None else {"job_cls": reaper.jobs_of(kind)}
    cluster = await kind(asynchronous=True, security=security, **batch_options(where), **more)
    cluster.scale(jobs=number)
    return cluster, number


def batch_options(where: Where) -> dict[str, Any]:
    """Return dask-jobqueue's options for the settings of *where*."""
    settings = where.settings
    options: dict[str, Any] = {
        "cores": int(where.number("cores", 1)),
        "processes": 1,
        "memory": settings.get("memory", _MEMORY),
        "walltime": settings.get("walltime", "01:00:00"),
        "python": shlex.quote(settings.get("python", sys.executable)),
        "scheduler_options": {"dashboard": False},
        "worker_command": "scalegraph.link.cluster.batch_worker",
        "death_timeout": _ORPHANED_S,
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
