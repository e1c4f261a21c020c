"""Algorithm G: the parallel time of an instantiated thread graph (semi-empirical paper, Table I).

Threads run ahead through events that affect no other thread; the rest wait in a heap ordered by time. With dedicated
processors only locks and messages need that order. With shared processors the heap uses virtual time: all active
threads run equally fast, so their remaining times to the next event shrink equally.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from scalegraph.base.errors import WorkError
from scalegraph.base.units import counted
from scalegraph.predict.instantiate import (
    ACQUIRE,
    BARRIER,
    END,
    ENTRY,
    EXIT,
    FORK,
    JOIN,
    KIND_NAMES,
    RECEIVE,
    RELEASE,
    SEND,
    START,
    Code,
    Instance,
)
from scalegraph.predict.policies import Dedicated, Policy

_NAMED = 8  # threads named in the message on a deadlock


class DeadlockError(WorkError):
    """The graph deadlocks: threads wait for events that no thread reaches. *waiting*: (thread, event)."""

    def __init__(self, waiting: list[tuple[str, str]]) -> None:
        self.waiting = waiting
        named = "; ".join(f"{thread} waits at {event}" for thread, event in waiting[:_NAMED])
        more = f"; and {counted(len(waiting) - _NAMED, 'more thread')}" if len(waiting) > _NAMED else ""
        super().__init__(f"the thread graph deadlocks: {named}{more}")


@dataclass
class Traversal:
    """The result of a traversal. Times in seconds; for alike threads, those of the representative.

    *events*: events processed, Theta of eq. (2.2); *passes* of each event by class; *spent* in each segment, *waited*
    before and *cost* of each kind of event with its name, summed over threads.
    """

    time_s: float = 0.0
    events: int = 0
    passes: dict[str, list[int]] = field(default_factory=dict)
    spent: dict[str, float] = field(default_factory=dict)
    waited: dict[tuple[str, str], float] = field(default_factory=dict)
    cost: dict[tuple[str, str], float] = field(default_factory=dict)


class _Thread:
    """A running thread. *clock* is virtual; *since* is the actual time at which it began to wait."""

    __slots__ = (
        "children",
        "clock",
        "code",
        "event",
        "left",
        "meetings",
        "name",
        "number",
        "parent",
        "passes",
        "since",
        "team",
        "weight",
    )

    def __init__(self, code: Code, number: int, weight: int, team: int, parent: _Thread | None, clock: float) -> None:
        self.code = code
        self.number = number
        self.weight = weight
        self.team = team
        self.parent = parent
        self.clock = clock
        self.name = code.name
        self.event = 0
        self.since = clock
        self.left = [0] * len(code.loops)
        self.passes: list[float] = [0.0] * len(code.loops)
        self.meetings: dict[int, _Meeting] = {}  # by event
        self.children: dict[int, tuple[int, float]] = {}  # by class: number of running threads, latest end


@dataclass
class _Meeting:
    """The threads that have arrived at a barrier, the latest arrival, and the total time waited there so far."""

    members: int
    arrived: int = 0
    clock: float = 0.0
    waited: float = 0.0
    threads: list[_Thread] = field(default_factory=list)


@dataclass
class _Lock:
    holder: _Thread | None = None
    free: float = 0.0
    queue: deque[_Thread] = field(default_factory=deque)


@dataclass
class _Channel:
    """Messages in transit to a thread (actual time of arrival), and whether it waits for one."""

    messages: list[float] = field(default_factory=list)
    waiting: deque[_Thread] = field(default_factory=deque)


def traverse(instance: Instance, policy: Policy | None = None) -> Traversal:
    """Return the parallel time of *instance* under *policy* (dedicated processors if None).

    Raises `DeadlockError` with the threads that wait and their events.
    """
    return _Traversing(instance, policy or Dedicated()).run()


class _Traversing:
    """One traversal."""

    def __init__(self, instance: Instance, policy: Policy) -> None:
        self.instance = instance
        self.policy = policy
        self.found = Traversal()
        self.ready: list[_Thread] = []
        self.heap: list[tuple[float, float, int, _Thread]] = []
        self.timers: list[tuple[float, int, _Thread]] = []  # actual time of a message, receiver
        self.active = 0  # threads in the heap, including those they stand for
        self.virtual = self.actual = 0.0
        self.serial = self.teams = 0
        self.blocked: dict[int, _Thread] = {}
        self.meetings: dict[tuple[int, int], _Meeting] = {}
        self.locks = [_Lock() for _ in instance.locks]
        self.channels: dict[tuple[int, int], _Channel] = {}
        self.counts: dict[int, tuple[Code, list[int]]] = {}
        self.ended: dict[tuple[int, int], int] = {}  # by code and last event of a loop: how often it was left
        self.extra: dict[tuple[str, str], float] = {}
        self.in_order = {kind: policy.shares or kind in (ACQUIRE, SEND, RECEIVE) for kind in range(END + 1)}
        self.handlers = {
            BARRIER: self._barrier,
            ACQUIRE: self._acquire,
            RELEASE: self._release,
            FORK: self._fork,
            JOIN: self._join,
            SEND: self._send,
            RECEIVE: self._receive,
            END: self._end,
        }

    def run(self) -> Traversal:
        for number in self.instance.first:
            self._start(number, None, 0.0)
        while self.ready or self.heap or self.timers:
            self._advance()
            self._next()
        stuck = [*self.blocked.values(), *(one for meeting in self.meetings.values() for one in meeting.threads)]
        if stuck:
            raise DeadlockError([(self._who(thread), self._where(thread)) for thread in stuck])
        self._sum_up()
        return self.found

    def _start(self, number: int, parent: _Thread | None, clock: float) -> None:
        """Create the threads of a class and make them ready, the first one on top."""
        cluster = self.instance.clusters[number]
        self.teams += 1
        every = zip(cluster.codes, cluster.weights, strict=True)
        made = [_Thread(code, i, weight, self.teams, parent, clock) for i, (code, weight) in enumerate(every)]
        for code in cluster.codes:
            self.counts.setdefault(id(code), (code, [0] * len(code.kinds)))
        if parent is not None:
            parent.children[number] = (len(made), clock)
        self.ready.extend(reversed(made))

    def _advance(self) -> None:
        """Run all ready threads up to their next event that affects others; process it, or queue it in time order.

        Most time is spent here: a private event takes a few operations on the arrays of the thread's code.
        """
        ready, at_once = self.ready, not self.policy.shares
        code: Code | None = None
        while ready:
            thread = ready.pop()
            if thread.code is not code:
                code = thread.code
                kinds, arguments, gaps, later, loops = code.kinds, code.arguments, code.gaps, code.later, code.loops
                counts = self.counts[id(code)][1]
            left, event, clock = thread.left, thread.event, thread.clock
            while True:
                kind = kinds[event]
                if kind == EXIT:
                    counts[event] += 1
                    slot = arguments[event]
                    if left[slot] > 1:
                        left[slot] -= 1
                        thread.passes[slot] += 1.0
                        event = loops[slot][0]
                        continue
                    left[slot] = 0
                    self._leave(code, event)
                elif kind == ENTRY:
                    slot = arguments[event]
                    if left[slot] or self._enter(thread, slot):
                        counts[event] += 1
                    else:
                        event = loops[slot][1]
                        self._leave(code, event)
                elif kind == BARRIER and at_once:
                    counts[event] += 1
                    meeting = self._meet(thread, event, clock)
                    if meeting is None:
                        break
                    clock = meeting
                elif kind == START:
                    counts[event] += 1
                else:
                    counts[event] += 1
                    thread.event, thread.clock = event, clock
                    self._concern(thread, kind)
                    break
                clock += gaps[event]
                if later[event]:
                    clock += self._pass(thread, event)
                event += 1

    def _concern(self, thread: _Thread, kind: int) -> None:
        """Process an event of *thread* that affects others, or queue it in time order."""
        if kind in (FORK, SEND):
            thread.clock += thread.code.costs[thread.event]
        if not self.in_order[kind]:
            self.handlers[kind](thread)
            return
        self.serial += 1
        self.active += thread.weight
        heapq.heappush(self.heap, (thread.clock, self.policy.rank(), self.serial, thread))

    def _meeting(self, thread: _Thread, number: int) -> _Meeting:
        barrier = self.instance.barriers[number]
        key = (number, 0 if barrier.shared else thread.team)
        found = self.meetings.get(key)
        if found is None:
            found = self.meetings[key] = _Meeting(barrier.members)
        return found

    def _meet(self, thread: _Thread, event: int, clock: float) -> float | None:
        """Record the arrival of *thread* at a barrier at *clock*; return when it leaves, None if others are missing."""
        code = thread.code
        meeting = thread.meetings.get(event) or thread.meetings.setdefault(
            event, self._meeting(thread, code.arguments[event])
        )
        meeting.arrived += thread.weight
        if clock > meeting.clock:
            meeting.clock = clock
        if meeting.arrived < meeting.members:
            thread.event, thread.clock = event, clock
            meeting.threads.append(thread)
            return None
        last, waited = meeting.clock, meeting.clock - clock
        for other in meeting.threads:
            waited += last - other.clock
            at, own = other.event, other.code
            other.clock = last + own.costs[at] + own.gaps[at]
            if own.later[at]:
                other.clock += self._pass(other, at)
            other.event = at + 1
        self.ready += meeting.threads
        meeting.arrived, meeting.clock, meeting.threads = 0, 0.0, []
        meeting.waited += waited
        return last + code.costs[event]

    def _enter(self, thread: _Thread, slot: int) -> bool:
        """Set the passes of a newly entered loop; return whether there are any."""
        iterations = thread.code.loops[slot][2]
        thread.passes[slot] = 0.0
        thread.left[slot] = round(iterations(thread.passes) if callable(iterations) else iterations)
        return thread.left[slot] > 0

    def _leave(self, code: Code, event: int) -> None:
        key = (id(code), event)
        self.ended[key] = self.ended.get(key, 0) + 1

    def _after(self, thread: _Thread, event: int) -> float:
        """Return the time of the segments after *event*."""
        gap = thread.code.gaps[event]
        return gap + self._pass(thread, event) if thread.code.later[event] else gap

    def _pass(self, thread: _Thread, event: int) -> float:
        """Return the part of the time after *event* that depends on the loops' completed passes."""
        total = 0.0
        for segment in thread.code.segments:
            if segment.event == event and callable(segment.time_s):
                time = segment.time_s(thread.passes)
                key = (segment.name, segment.place)
                self.extra[key] = self.extra.get(key, 0.0) + time
                total += time
        return total

    def _next(self) -> None:
        """Process the next event in time: of a thread, or the arrival of a message."""
        policy = self.policy
        if not policy.shares:
            if self.heap:
                thread = heapq.heappop(self.heap)[3]
                self.active -= thread.weight
                self.handlers[thread.code.kinds[thread.event]](thread)
            return
        rate = policy.rate(self.active)
        if self.timers:
            ahead = self.timers[0][0] - self.actual
            if not self.heap or self.virtual + ahead * rate < self.heap[0][0]:
                self.actual, _, thread = heapq.heappop(self.timers)
                self.virtual += ahead * rate
                self._go_on(thread, self.virtual)
                return
        if self.heap:
            thread = heapq.heappop(self.heap)[3]
            self.actual += (thread.clock - self.virtual) / rate
            self.virtual = thread.clock
            self.active -= thread.weight
            self.handlers[thread.code.kinds[thread.event]](thread)

    def _now(self, thread: _Thread) -> float:
        """Return the actual time of *thread*."""
        return self.actual if self.policy.shares else thread.clock

    def _wait(self, thread: _Thread) -> None:
        thread.since = self._now(thread)
        self.blocked[id(thread)] = thread

    def _go_on(self, thread: _Thread, clock: float) -> None:
        """Let *thread* leave its event at *clock* plus the event's own time, and start the next segment."""
        event = thread.event
        code = thread.code
        if self.blocked.pop(id(thread), None) is not None:
            key = (KIND_NAMES[code.kinds[event]], code.labels[event])
            waited = (self.actual if self.policy.shares else clock) - thread.since
            if waited > 0:
                self.found.waited[key] = self.found.waited.get(key, 0.0) + waited
        own = 0.0 if code.kinds[event] in (FORK, SEND) else code.costs[event]
        thread.clock = clock + own + self._after(thread, event)
        thread.event = event + 1
        self.ready.append(thread)

    def _barrier(self, thread: _Thread) -> None:
        """Record the arrival of *thread* at a barrier with shared processors: waiting threads give theirs to others."""
        meeting = self._meeting(thread, thread.code.arguments[thread.event])
        meeting.arrived += thread.weight
        meeting.threads.append(thread)
        thread.since = self.actual
        if meeting.arrived < meeting.members:
            return
        threads, meeting.arrived, meeting.threads = meeting.threads, 0, []
        for other in threads:
            meeting.waited += self.actual - other.since
            self._go_on(other, self.virtual)

    def _acquire(self, thread: _Thread) -> None:
        lock = self.locks[thread.code.arguments[thread.event]]
        if lock.holder is not None:
            self._wait(thread)
            lock.queue.append(thread)
            return
        lock.holder = thread
        if lock.free > thread.clock:
            self._wait(thread)
        self._go_on(thread, max(thread.clock, lock.free))

    def _release(self, thread: _Thread) -> None:
        lock = self.locks[thread.code.arguments[thread.event]]
        lock.free = max(lock.free, thread.clock)
        lock.holder = lock.queue.popleft() if lock.queue else None
        self._go_on(thread, thread.clock)
        if lock.holder is not None:
            self._go_on(lock.holder, max(lock.holder.clock, lock.free))

    def _fork(self, thread: _Thread) -> None:
        self._start(thread.code.arguments[thread.event], thread, thread.clock)
        self._go_on(thread, thread.clock)

    def _join(self, thread: _Thread) -> None:
        number = thread.code.arguments[thread.event]
        running, latest = thread.children.get(number, (0, 0.0))
        if running:
            self._wait(thread)
            return
        if latest > thread.clock:
            self._wait(thread)
        self._go_on(thread, max(thread.clock, latest))

    def _end(self, thread: _Thread) -> None:
        self.found.time_s = max(self.found.time_s, self._now(thread))
        parent = thread.parent
        if parent is None:
            return
        number = next(n for n, one in enumerate(self.instance.clusters) if one.name == thread.code.name)
        running, latest = parent.children[number]
        latest = max(latest, thread.clock)
        parent.children[number] = (running - 1, latest)
        at_join = id(parent) in self.blocked and parent.code.kinds[parent.event] == JOIN
        if running == 1 and at_join and parent.code.arguments[parent.event] == number:
            self._go_on(parent, max(parent.clock, latest))

    def _send(self, thread: _Thread) -> None:
        to, transit = thread.code.values[thread.event]
        receiver = int(to(thread.passes) if callable(to) else to)
        channel = self.channels.setdefault((thread.code.arguments[thread.event], receiver), _Channel())
        there = self._now(thread) + transit
        if channel.waiting:
            self._deliver(channel.waiting.popleft(), there)
        else:
            heapq.heappush(channel.messages, there)
        self._go_on(thread, thread.clock)

    def _receive(self, thread: _Thread) -> None:
        channel = self.channels.setdefault((thread.code.arguments[thread.event], thread.number), _Channel())
        self._wait(thread)
        if channel.messages:
            self._deliver(thread, heapq.heappop(channel.messages))
        else:
            channel.waiting.append(thread)

    def _deliver(self, thread: _Thread, there: float) -> None:
        """Let *thread* continue with a message that arrives at *there*."""
        if not self.policy.shares:
            self._go_on(thread, max(thread.clock, there))
        elif there <= self.actual:
            self._go_on(thread, self.virtual)
        else:
            self.serial += 1
            heapq.heappush(self.timers, (there, self.serial, thread))

    def _who(self, thread: _Thread) -> str:
        cluster = next(one for one in self.instance.clusters if one.name == thread.code.name)
        return f"'{thread.name}' {thread.number}" if cluster.size > 1 else f"'{thread.name}'"

    def _where(self, thread: _Thread) -> str:
        kind, number = thread.code.kinds[thread.event], thread.code.arguments[thread.event]
        text = f"{KIND_NAMES[kind]} '{thread.code.labels[thread.event]}'"
        if kind == BARRIER:
            meeting = self._meeting(thread, number)
            return f"{text} ({meeting.arrived} of {meeting.members} have arrived)"
        return text

    def _sum_up(self) -> None:
        found = self.found
        for (number, _), meeting in self.meetings.items():
            key = ("barrier", self.instance.barriers[number].name)
            if meeting.waited > 0:
                found.waited[key] = found.waited.get(key, 0.0) + meeting.waited
        for code, counts in self.counts.values():
            found.events += sum(counts)
            before = found.passes.get(code.name, [0] * len(counts))
            found.passes[code.name] = _added(before, counts)
            for segment in code.segments:
                times = counts[segment.event]
                if code.kinds[segment.event] == EXIT:  # the segment after it follows only the last pass
                    times = self.ended.get((id(code), segment.event), 0)
                if not callable(segment.time_s):
                    found.spent[segment.name] = found.spent.get(segment.name, 0.0) + times * segment.time_s
            for event, times in enumerate(counts):
                if code.costs[event] and times:
                    key = (KIND_NAMES[code.kinds[event]], code.labels[event])
                    found.cost[key] = found.cost.get(key, 0.0) + times * code.costs[event]
        for (name, _), time in self.extra.items():
            found.spent[name] = found.spent.get(name, 0.0) + time


def _added(first: Iterable[int], second: Iterable[int]) -> list[int]:
    first, second = list(first), list(second)
    size = max(len(first), len(second))
    return [sum(part[i] if i < len(part) else 0 for part in (first, second)) for i in range(size)]
