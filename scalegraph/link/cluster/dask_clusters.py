"""Connections to Dask: a scheduler that runs already, or a cluster that is started; for the courier's process only."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import scalegraph
from scalegraph.base.workplaces import workplace
from scalegraph.link.cluster.batch_workers import OWN_LOGS, keep
from scalegraph.link.cluster.places import Where

LINGER_S: Final = 600.0
_TIMEOUT_S: Final = 20.0
_BEFORE_S: Final = 3.0  # for a scheduler that an earlier ScaleGraph has left, which may be gone
_MEMORY: Final = "2 GiB"
_SSH_OPTIONS: Final = {
    "connect_timeout": _TIMEOUT_S,
    "login_timeout": _TIMEOUT_S,
    "keepalive_interval": 15,
    "keepalive_count_max": 4,
}
_VERSION: Final = "scalegraph-version"  # after what a login prints
_BATCH_CLASSES: Final = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "lsf": "LSFCluster", "sge": "SGECluster"}
_PROJECT: Final = ("lsf", "sge")  # where an account is called a project


class Unreachable(Exception):  # noqa: N818 - reads as what it is in an except clause
    """There is no connection; the text is a sentence."""


@dataclass(frozen=True)
class Connected:
    """A *client*, the address of its *scheduler*, and whose that is.

    *own*: it was started here; *adopted*: an earlier ScaleGraph left it. *expected*: workers that were requested.
    *failure*: ends with a sentence when no worker will come any more.
    """

    client: Any
    scheduler: str
    own: bool = False
    adopted: bool = False
    expected: int = 0
    failure: asyncio.Task[str] | None = None


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
    with logged(where) as there:
        cluster, expected = await _started(there)
        async with cluster, await _client(cluster, _TIMEOUT_S, None) as client:
            kept = asyncio.create_task(keep(cluster, there, expected)) if where.kind in _BATCH_CLASSES else None
            try:
                yield Connected(client, cluster.scheduler_address, own=True, expected=expected, failure=kept)
            finally:
                if kept is not None:
                    kept.cancel()
                    await asyncio.gather(kept, return_exceptions=True)


@contextlib.contextmanager
def logged(where: Where) -> Iterator[Where]:
    """Yield *where*, of a batch system with a directory for what its jobs print; removed at the end if it is ours."""
    if where.kind not in _BATCH_CLASSES or "log-directory" in where.settings:
        yield where
        return
    with contextlib.ExitStack() as stack:
        try:
            place = stack.enter_context(workplace(OWN_LOGS, Path.cwd(), shared=True))
        except OSError as error:
            text = f"what the batch jobs print cannot be written here: {_why(error)}; log-directory names another place"
            raise Unreachable(f"{where.name}: {text}") from error
        yield replace(where, settings={**where.settings, "log-directory": str(place)})


async def _started(where: Where) -> tuple[Any, int]:
    """Return the cluster of *where*, its workers started or submitted, and how many that shall be."""
    cluster = None
    try:
        cluster, expected = await _cluster(where)
        return await cluster, expected
    except Unreachable:
        raise
    except Exception as error:
        if cluster is not None:
            with contextlib.suppress(Exception):
                await cluster.close()
        text = f"'{error.filename}' was not found" if isinstance(error, FileNotFoundError) else str(error)
        last = [line.strip() for line in text.splitlines() if line.strip()][-1:] or [type(error).__name__]
        raise Unreachable(f"{where.name}: no workers could be started: {last[0]}") from error


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
        why = _why(error) if isinstance(error, OSError) else error
        raise Unreachable(f"{where.address}: no Dask scheduler answers there: {why}") from error


def _why(error: OSError) -> str:
    """Return the system's words for *error*; the resolver's have numbers of their own, below 0."""
    if error.errno and error.errno > 0:
        return os.strerror(error.errno).lower()
    return (error.strerror or str(error) or "no answer").lower()


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

    hosts = [_host(text, where) for text in where.rest.split(",")]
    python = shlex.quote(where.settings.get("python", sys.executable))
    faults = [text for text in await asyncio.gather(*(_ssh_fault(host, python) for host in hosts)) if text]
    if faults:
        raise Unreachable(f"{where.name}: no runs can go to {'; '.join(faults)}")
    # the first host is the scheduler's and a worker's
    made: Any = SSHCluster(
        [host.name for host in (hosts[0], *hosts)],
        connect_options=[host.options for host in (hosts[0], *hosts)],
        worker_options={"nthreads": int(where.number("threads", 1))},
        scheduler_options={"dashboard": False},
        remote_python=python,
        asynchronous=True,
    )
    try:
        return await made, len(hosts)
    except BaseException:
        await made.close()  # what has started already
        raise


@dataclass(frozen=True)
class _Host:
    """A computer that SSH reaches: its *name*, and *options* of the connection."""

    name: str
    options: dict[str, Any]


def _host(text: str, where: Where) -> _Host:
    """Return the computer of ``user@name:port``, of which user and port may be missing."""
    user, _at, rest = text.rpartition("@")
    name, _colon, port = rest.partition(":")
    user = user or where.settings.get("user", "")
    more = {**({"username": user} if user else {}), **({"port": int(port)} if port else {})}
    return _Host(name, {**_SSH_OPTIONS, **more})


async def _ssh_fault(host: _Host, python: str) -> str:
    """Return why *host* cannot have a worker, empty if it can."""
    import asyncssh

    program = f"import distributed, scalegraph; print({_VERSION!r}, scalegraph.__version__)"
    try:
        async with asyncssh.connect(host.name, **host.options) as connection:
            done = await connection.run(f"{python} -c {shlex.quote(program)}", timeout=_TIMEOUT_S)
    except (OSError, asyncssh.Error, TimeoutError) as error:
        why = _why(error) if isinstance(error, OSError) else str(error) or "no answer"
        return f"{host.name}: SSH does not reach it: {why}; `ssh {host.name}` has to work without a question"
    said = str(done.stdout).rpartition(_VERSION)[2].strip()
    if done.exit_status != 0 or not said:
        last = str(done.stderr).strip().splitlines()[-1:]
        return f"{host.name}: {python} there has no ScaleGraph with Dask: {''.join(last) or 'it says no reason'}"
    if said != scalegraph.__version__:
        return f"{host.name}: it has ScaleGraph {said}; {scalegraph.__version__} was expected, as here"
    return ""


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
