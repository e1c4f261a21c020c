"""Two accounts on one computer: what the second can do to the first one's sweep. Needs root to create an account."""

from __future__ import annotations

import json
import os
import re
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from scalegraph.base.events import Event, Note
from scalegraph.base.private import read_private, state_root
from scalegraph.link.cluster.certificates import Certificates
from scalegraph.link.cluster.places import parse
from scalegraph.request import Session, load_request
from scalegraph.request.run import remote
from tests.cluster.conftest import Gate

OTHER = 65534  # the account "nobody"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs a second account: run as root")
ROOT = Path(__file__).parent.parent.parent
COMMAND = [sys.executable, "-m", "scalegraph.cli.main"]


def listening(pid: int) -> list[Any]:
    """Return the addresses at which the process *pid* and its children listen."""
    found = []
    for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
        found += [one.laddr for one in process.net_connections("tcp") if one.status == psutil.CONN_LISTEN]
    return found


@pytest.fixture
def public() -> Iterator[Path]:
    """Return a directory that every account can write to; pytest's own are private to this user."""
    with tempfile.TemporaryDirectory(prefix="scalegraph-test-") as name:
        Path(name).chmod(0o777)
        yield Path(name)


@contextmanager
def running(command: list[str], temporary: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Yield the process of *command*, and stop it if the test fails before it ends."""
    env = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env) as process:
        try:
            yield process
        finally:
            process.terminate()


@as_root
@pytest.mark.slow
@pytest.mark.compiler
def test_another_account_runs_nothing_on_a_local_cluster(gate: Gate, public: Path, tmp_path: Path) -> None:
    """Every port of submitter, scheduler, nannies and workers is tried as client, peer, worker and browser."""
    path = gate.request.with_suffix(".sgstudy")
    command = [*COMMAND, "run", str(gate.request), "-o", str(path), "--on", "local:1"]
    (temporary := tmp_path / "temporary").mkdir()
    with running(command, temporary) as submitter:
        gate.wait_for(1, "begun")
        known = re.compile(r"scalegraph-[a-z]+-\w{8}")  # the end is random
        assert [path.name for path in temporary.iterdir() if not known.fullmatch(path.name)] == []
        assert {stat.S_IMODE(path.stat().st_mode) for path in temporary.iterdir()} == {0o700}
        contact = remote._contact(path)
        assert stat.S_IMODE(contact.stat().st_mode) == 0o600
        assert stat.S_IMODE(contact.parent.stat().st_mode) == 0o700
        addresses = listening(submitter.pid)
        assert addresses
        ports = sorted({str(address.port) for address in addresses})
        words = [sys.executable, "-m", "tests.cluster.intruder", str(OTHER), str(public / "mark"), *ports]
        tried = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        assert tried.returncode == 0, tried.stderr
        assert tried.stdout.split("\n")[-2] == "tried"
        assert "joined" not in tried.stdout
        assert "page 200" not in tried.stdout
        assert not (public / "mark").exists()
        gate.open()
        submitter.wait()
    assert submitter.returncode == 0
    assert gate.notes() == ["begun", "ended"]
    assert not contact.exists()
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
def test_an_address_without_its_certificate_is_not_adopted(gate: Gate) -> None:
    """Another account listens where an earlier ScaleGraph's scheduler was: nothing is sent there."""
    path, heard = gate.request.with_suffix(".sgstudy"), list[bytes]()
    contact = remote._contact(path)
    where = parse("local:1")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        address = f"127.0.0.1:{server.getsockname()[1]}"

        def listen() -> None:
            while True:
                try:
                    peer, _ = server.accept()
                except OSError:
                    return
                with peer:
                    heard.append(peer.recv(2**16))

        threading.Thread(target=listen, daemon=True).start()
        made = Certificates.made().values()
        for text, kept in (
            ({"on": "local:1", "scheduler": f"tcp://{address}"}, True),
            ({"on": "local:1", "scheduler": f"tcp://{address}", **made}, True),
            ({"on": "ssh:node", "scheduler": f"tls://{address}", **made}, False),
        ):
            contact.parent.mkdir(parents=True, exist_ok=True)
            contact.write_text(json.dumps(text))
            contact.chmod(0o600)
            assert bool(remote._left(contact, where)) == kept
        contact.write_text(json.dumps({"on": "local:1", "scheduler": f"tls://{address}", **made}))
        contact.chmod(0o644)
        assert remote._left(contact, where) == {}  # others may have read it
        contact.chmod(0o600)
        events = list[Event]()
        gate_opener = threading.Thread(target=gate.open)
        gate_opener.start()
        session = Session()
        with session.elsewhere(where, path, events.append) as there, there.submit(load_request(gate.request), path):
            pass
        gate_opener.join()
    assert gate.notes() == ["begun", "ended"]
    assert not any("still there" in event.text for event in events if isinstance(event, Note))
    assert all(data[:1] == b"\x16" for data in heard)  # the beginning of TLS, which ends with a wrong certificate
    assert not contact.exists()


@as_root
def test_what_others_have_written_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "contact"
    file.write_text("{}")
    file.chmod(0o600)
    assert read_private(file) == "{}"
    (tmp_path / "link").symlink_to(file)
    assert read_private(tmp_path / "link") is None
    os.chown(file, OTHER, OTHER)
    assert read_private(file) is None


def test_what_is_kept_is_for_this_user_alone(tmp_path: Path, eventually: Callable[[Callable[[], bool]], None]) -> None:
    from scalegraph.base.cancel import CancelToken
    from scalegraph.base.errors import Cancelled
    from scalegraph.link.cluster import turns

    said, stop = list[str](), CancelToken()
    with turns.alone(CancelToken()) as waited:
        assert waited < 60
        [lock] = (state_root() / "locks").iterdir()
        assert stat.S_IMODE(lock.stat().st_mode) == 0o600
        assert stat.S_IMODE(lock.parent.stat().st_mode) == 0o700

        def wait() -> None:
            with pytest.raises(Cancelled), turns.alone(stop, said.append):
                pass

        second = threading.Thread(target=wait)
        second.start()
        eventually(lambda: bool(said))
        stop.cancel()
        second.join()
    assert said == [f"waits for another measurement on this computer (process {os.getpid()})"]
    assert not lock.exists()
