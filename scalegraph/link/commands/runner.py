"""Starts one command, times it and writes down what it used. A separate program that needs only the standard library.

``python -I -S runner.py CONTROL RESULT``: it reads its orders (JSON, one line) from the descriptor CONTROL and writes
its findings to RESULT: a line of JSON, then the kept output. It has one thread and nothing else to do, so it reads the
clock as soon as the command ends, however busy the window is that ordered the run. When CONTROL is closed, nobody wants
the result any more, and the command is stopped.

All descendants of the command belong to this process: an orphan becomes its child (child subreaper), so that its
processor time is counted and nothing is left behind.
"""

from __future__ import annotations

import ctypes
import errno
import glob
import json
import os
import select
import signal
import struct
import sys
import time
from typing import Any

_SUBREAPER, _DEATH = 36, 1  # options of prctl
_PERF = {"x86_64": 298, "aarch64": 241}  # perf_event_open
_ATTRIBUTES = 128  # bytes
_FLAGS = 1 | 1 << 1 | 1 << 5 | 1 << 6 | 1 << 12  # disabled, inherit, without kernel and hypervisor, enable on exec
_FORMAT = 1 | 2  # time enabled, time running
_FIRST_S, _LONGEST_S, _COST = 0.001, 0.1, 50  # between samples: first, longest, in sample costs
_SHORT_S = 0.05  # in a shorter run, memory may have peaked between samples
_GRACE_S = 2.0
_TIME = 8  # bytes of the command's time stamp
_CHUNK = 1 << 20
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_IDLE, _STEAL = (3, 4), 7  # columns of /proc/stat


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:  # noqa: PTH123 - pathlib takes longer to load
            return file.read()
    except OSError:
        return ""


class Tree:
    """The descendants of a process, and their peak memory together (bytes)."""

    def __init__(self, root: int) -> None:
        self.root = root
        self.peak = 0

    def pids(self) -> list[int]:
        """Return all processes below this one: the command's, and those that it left behind."""
        found, left = [], [os.getpid()]
        while left:
            pid = left.pop()
            for path in glob.glob(f"/proc/{pid}/task/*/children"):  # noqa: PTH207
                left += [int(word) for word in _read(path).split()]
            found.append(pid)
        return found[1:]

    def sample(self) -> None:
        """Sample the memory once."""
        pids = self.pids()
        total = 0
        for pid in pids:
            words = _read(f"/proc/{pid}/statm").split()
            total += int(words[1]) * _PAGE if len(words) > 1 else 0
        if len(pids) == 1:  # for a single process the kernel knows the peak, between samples too
            total = max(total, highest(pids[0]))
        self.peak = max(self.peak, total)

    def kill(self, number: int) -> None:
        """Send a signal to all of them."""
        for pid in self.pids():
            try:
                os.kill(pid, number)
            except OSError:
                continue


def highest(pid: int) -> int:
    """Return the peak memory of a process, in bytes."""
    text = _read(f"/proc/{pid}/status")
    found = text.partition("VmHWM:")[2].split(None, 1)
    return int(found[0]) * 1024 if found else 0


def throttled(processors: list[int]) -> int | None:
    """Return how often *processors* have been throttled so far; None where the kernel does not count it."""
    counts = [
        int(text)
        for cpu in processors
        for name in ("core_throttle_count", "package_throttle_count")
        if (text := _read(f"/sys/devices/system/cpu/cpu{cpu}/thermal_throttle/{name}").strip()).isdigit()
    ]
    return sum(counts) if counts else None


def clock_mhz(processors: list[int]) -> float | None:
    """Return the mean clock of *processors* now; None where it is not shown."""
    found = []
    for cpu in processors:
        text = _read(f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq").strip()
        if text.isdigit():
            found.append(int(text) / 1000)
    if not found:
        lines = [line for line in _read("/proc/cpuinfo").splitlines() if line.startswith("cpu MHz")]
        found = [float(line.partition(":")[2]) for cpu, line in enumerate(lines) if cpu in processors]
    return sum(found) / len(found) if found else None


def spent() -> tuple[float | None, float | None]:
    """Return the processor time of all programs of this computer so far, and the stolen time, in s."""
    words = _read("/proc/stat").partition("\n")[0].split()[1:]
    if len(words) <= _STEAL:
        return None, None
    columns = [int(word) for word in words[: _STEAL + 1]]
    busy = sum(ticks for at, ticks in enumerate(columns) if at not in _IDLE and at != _STEAL)
    return busy / _TICKS, columns[_STEAL] / _TICKS


def counters(pid: int, events: dict[str, list[int]]) -> tuple[dict[str, int], int]:
    """Return descriptors of the counters *events* (type and configuration) for *pid* and its children, or an error."""
    number = _PERF.get(os.uname().machine)
    if number is None or not events:
        return {}, errno.ENOSYS if events else 0
    libc = ctypes.CDLL(None, use_errno=True)
    opened: dict[str, int] = {}
    why = 0
    for name, (kind, config) in events.items():
        attributes = struct.pack("=IIQQQQQ", kind, _ATTRIBUTES, config, 0, 0, _FORMAT, _FLAGS)
        handle = libc.syscall(number, attributes.ljust(_ATTRIBUTES, b"\0"), pid, -1, -1, 8)  # closed on exec
        if handle >= 0:
            opened[name] = handle
        else:
            why = ctypes.get_errno()
    return opened, 0 if opened else why


def counted(opened: dict[str, int]) -> dict[str, int]:
    """Return the counts, scaled where counters had to take turns; counters that never ran are left out."""
    found = {}
    for name, handle in opened.items():
        value, enabled, running = struct.unpack("=QQQ", os.read(handle, 24))
        if running:
            found[name] = round(value * enabled / running)
        os.close(handle)
    return found


class Run:
    """The running command."""

    def __init__(self, order: dict[str, Any], control: int) -> None:
        self.order, self.control = order, control
        self.kept = (bytearray(), bytearray())
        self.dropped = [False, False]
        self.status: int | None = None
        self.cpu = [0.0, 0.0]
        self.largest = 0
        self.timed_out = self.cancelled = False

    def begin(self) -> None:
        """Start the command; raise `OSError` where that fails."""
        order = self.order
        self.pipes = [os.pipe() for _ in range(2)]
        go_read, go_write = os.pipe()
        ready_read, ready_write = os.pipe()
        failed_read, failed_write = os.pipe()
        stdin = os.open(order["stdin"] or os.devnull, os.O_RDONLY)
        pid = os.fork()
        if not pid:
            os.close(go_write)
            self._become(go_read, ready_write, failed_write, stdin)
        for fd in (self.pipes[0][1], self.pipes[1][1], go_read, ready_write, failed_write, stdin):
            os.close(fd)
        os.read(ready_read, 1)  # until the other process only has to exec the command
        os.close(ready_read)
        self.tree = Tree(pid)
        self.opened, self.uncounted = counters(pid, order["events"])
        self.processors = order["processors"] or sorted(os.sched_getaffinity(0))
        self.load = float(_read("/proc/loadavg").split()[0]) if _read("/proc/loadavg") else None
        self.before = (clock_mhz(self.processors), throttled(self.processors), spent())
        self.started = time.time()
        os.close(go_write)
        said = b""
        while more := os.read(failed_read, 64):  # nothing more comes once exec has succeeded
            said += more
        os.close(failed_read)
        self.clock, error = struct.unpack_from("=d", said)[0] if len(said) >= _TIME else 0.0, said[_TIME:]
        if error:
            raise OSError(int(error), os.strerror(int(error)))

    def _become(self, go: int, ready: int, failed: int, stdin: int) -> None:
        """Exec the command once the other side closes *go*."""
        order, begun = self.order, False
        try:
            os.setsid()
            ctypes.CDLL(None).prctl(_DEATH, signal.SIGKILL, 0, 0, 0)
            for fd, target in ((stdin, 0), (self.pipes[0][1], 1), (self.pipes[1][1], 2)):
                os.dup2(fd, target)
            if order["processors"]:
                os.sched_setaffinity(0, order["processors"])
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            signal.set_wakeup_fd(-1)
            os.chdir(order["cwd"] or ".")
            os.close(ready)
            os.read(go, 1)
            # its own clock: on a busy computer it may wait for a processor before it begins
            os.write(failed, struct.pack("=d", time.monotonic()))
            begun = True
            os.execvpe(order["words"][0], order["words"], order["env"])
        except OSError as error:
            os.write(failed, (b"" if begun else b"\0" * _TIME) + str(error.errno or 1).encode())
        finally:
            os._exit(127)

    def follow(self, wake: int) -> None:
        """Wait for the end of the command, its time limit or a request to stop; read what it prints."""
        poll = select.poll()
        for fd in (wake, self.control, self.pipes[0][0], self.pipes[1][0]):
            os.set_blocking(fd, False)
            poll.register(fd, select.POLLIN | select.POLLHUP)
        deadline = self.clock + self.order["time_s"]
        pause, sample_at, killed_at = _FIRST_S, self.clock, None
        while self.status is None:
            now = time.monotonic()
            if now >= sample_at:
                self.tree.sample()
                cost = time.monotonic() - now
                pause = min(max(pause * 2, cost * _COST), max(_LONGEST_S, cost * _COST))
                sample_at = now + pause
            if killed_at is None and now >= deadline:
                self.timed_out, killed_at = True, now
                self.tree.kill(signal.SIGTERM)
            if killed_at is not None and now >= killed_at + _GRACE_S:
                self.tree.kill(signal.SIGKILL)
            ends = [sample_at, deadline if killed_at is None else killed_at + _GRACE_S]
            for fd, _event in poll.poll(max(0.0, (min(ends) - time.monotonic()) * 1000)):
                if fd == wake:
                    self._reap(wake)
                elif fd == self.control:
                    poll.unregister(fd)
                    self.cancelled, killed_at = True, now
                    self.tree.kill(signal.SIGTERM)
                elif not self._take(fd):
                    poll.unregister(fd)

    def _reap(self, wake: int) -> None:
        """Reap processes that ended; the end of the command itself ends the run."""
        ended = time.monotonic()
        os.read(wake, 4096)
        self._children(ended)

    def _children(self, ended: float) -> bool:
        """Reap children that have ended; return whether any are left."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if not pid:
                return True
            self.cpu[0] += usage.ru_utime
            self.cpu[1] += usage.ru_stime
            self.largest = max(self.largest, usage.ru_maxrss * 1024)
            if pid == self.tree.root:
                self.status, self.ended = status, ended

    def _take(self, fd: int) -> bool:
        """Keep the command's output; return whether more may come."""
        at = int(fd == self.pipes[1][0])
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return True
        room = self.order["output_bytes"] - len(self.kept[at])
        self.kept[at].extend(data[: max(room, 0)])
        self.dropped[at] |= len(data) > room
        return bool(data)

    def end(self) -> dict[str, Any]:
        """Return the run's results, once all its processes are gone."""
        after = (clock_mhz(self.processors), throttled(self.processors), spent())
        self.tree.kill(signal.SIGKILL)
        until = time.monotonic() + _GRACE_S  # a process of another user may not end
        while self._children(self.ended) and time.monotonic() < until:
            self.tree.kill(signal.SIGKILL)
            time.sleep(_FIRST_S)
        for fd, _ in self.pipes:
            for _turn in range(64):
                if not self._take(fd):
                    break
        own = highest(os.getpid())  # a process has this much before it execs the command
        wall = self.ended - self.clock
        peak = max(self.largest if self.largest > own else 0, self.tree.peak if wall > _SHORT_S else 0)
        code = os.waitstatus_to_exitcode(self.status or 0)
        busy, stolen = (
            None if b is None or a is None else a - b for b, a in zip(self.before[2], after[2], strict=True)
        )
        return {
            "code": code,
            "timed_out": self.timed_out and not self.cancelled,
            "cancelled": self.cancelled,
            "wall_s": wall,
            "started": self.started,
            "user_s": self.cpu[0],
            "system_s": self.cpu[1],
            "peak_memory_bytes": peak or None,
            "counters": counted(self.opened),
            "uncounted": self.uncounted,
            "host": {
                "load": self.load,
                "mhz_begin": self.before[0],
                "mhz_end": after[0],
                "throttled": None if self.before[1] is None or after[1] is None else after[1] - self.before[1],
                "stolen_s": stolen,
                "others_s": None if busy is None else max(0.0, busy - sum(self.cpu)),
                "pinned": self.order["processors"],
                "processors": os.cpu_count(),
            },
            "truncated": self.dropped,
            "output": [len(kept) for kept in self.kept],
        }


def main() -> None:
    """Carry out the order from the first argument's descriptor; write the answer to the second's."""
    control, result = int(sys.argv[1]), int(sys.argv[2])
    for fd in (control, result):
        os.set_inheritable(fd, False)
    text = b""
    while not text.endswith(b"\n"):
        data = os.read(control, _CHUNK)
        if not data:
            return
        text += data
    order = json.loads(text)
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    run = Run(order, control)
    try:
        run.begin()
        run.follow(wake_read)
        found = run.end()
    except OSError as error:
        found = {"error": error.errno or 1, "output": [0, 0]}
    with open(result, "wb") as out:
        out.write(json.dumps(found).encode() + b"\n" + run.kept[0] + run.kept[1])


if __name__ == "__main__":
    main()
