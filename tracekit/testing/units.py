"""Compute units that many ask for at once: a queue with hand-over times, and cores that are shared.

`Clock` calls functions at their times; the units hear of requests when they arrive and call back when a request is
done. All times are ns since the start of the recording, on the clock of `draws`.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from tracekit.testing.rng import CLOCK_STEP_NS, Draws, on_clock
from tracekit.testing.work import Span

Done = Callable[[Span, int], None]
"""Gets the time in which the unit worked, and how long the work would have taken alone in the present heat, in ns."""

_FINE = 1 << 20
"""Parts of a ns in which the rest of a shared work is counted."""


@dataclass(slots=True)
class Clock:
    """Calls functions in the order of their times, and those of one time in the order in which they were given."""

    now_ns: int = 0
    permille: int = 1_000
    """How much longer everything takes in the present heat than on a cool device, in thousandths."""
    _queue: list[tuple[int, int, Callable[[], None]]] = field(default_factory=list)
    _given: int = 0

    def at(self, time_ns: int, call: Callable[[], None]) -> None:
        """Call a function at a time, or at once where it is over."""
        self._given += 1
        heapq.heappush(self._queue, (max(time_ns, self.now_ns), self._given, call))

    def heated(self, work_ns: int) -> int:
        """How long a work takes in the present heat, in ns."""
        return max(on_clock(work_ns * self.permille // 1_000), CLOCK_STEP_NS)

    def run(self) -> None:
        """Until nothing is left to do."""
        while self._queue:
            self.now_ns, _, call = heapq.heappop(self._queue)
            call()


@dataclass(slots=True)
class Line:
    """A unit that does one work at a time, in the order of arrival.

    Between a work and the next one that waits lies a hand-over time, drawn for each around `handover_ns` with the
    spread `handover_permille`: published recordings show 0.1 to 0.3 ms between works on the Neural Engine.
    """

    clock: Clock
    draws: Draws
    handover_ns: int
    handover_permille: int
    _waiting: deque[tuple[int, Done]] = field(default_factory=deque)
    _busy: bool = False

    def ask(self, work_ns: int, threads: int, done: Done) -> None:  # noqa: ARG002  cores ask how many
        """A request arrives now."""
        self._waiting.append((work_ns, done))
        if not self._busy:
            self._begin(0)

    def _begin(self, after_ns: int) -> None:
        """The next work that waits begins so much later."""
        if not self._waiting:
            self._busy = False
            return
        self._busy = True
        work_ns, done = self._waiting.popleft()
        begin = on_clock(self.clock.now_ns + after_ns)
        length = self.clock.heated(work_ns)
        span = Span(begin, begin + length)

        def finish() -> None:
            done(span, length)
            pause = self.draws.around(self.handover_ns, self.handover_permille) if self.handover_ns else 0
            self._begin(pause)

        self.clock.at(span.end_ns, finish)


@dataclass(slots=True)
class _Shared:
    """A work on the cores that is not done."""

    begin_ns: int
    threads: int
    left: int
    """Work that is left, in parts of a ns on a cool device with enough cores."""
    done: Done
    alone_ns: int


@dataclass(slots=True)
class Cores:
    """A processor whose works slow each other down by the same factor as soon as they want more cores than there are.

    Changes of the heat count for works that begin after them.
    """

    clock: Clock
    cores: int
    _works: list[_Shared] = field(default_factory=list)
    _since_ns: int = 0
    _version: int = 0

    def ask(self, work_ns: int, threads: int, done: Done) -> None:
        """A request arrives now."""
        self._progress()
        length = self.clock.heated(work_ns)
        self._works.append(_Shared(self.clock.now_ns, min(threads, self.cores), length * _FINE, done, length))
        self._plan()

    @property
    def _demand(self) -> int:
        """Cores that the works want together, at least as many as there are."""
        return max(self.cores, sum(work.threads for work in self._works))

    def _progress(self) -> None:
        """Count what was done since the last change."""
        passed = self.clock.now_ns - self._since_ns
        done = passed * _FINE * self.cores // self._demand
        for work in self._works:
            work.left -= done
        self._since_ns = self.clock.now_ns

    def _plan(self) -> None:
        """Wake up when the next work is done, unless something changes before."""
        self._version += 1
        if not self._works:
            return
        version = self._version
        left = min(work.left for work in self._works)
        needed = -(-left * self._demand // (self.cores * _FINE))
        self.clock.at(self.clock.now_ns + -(-needed // CLOCK_STEP_NS) * CLOCK_STEP_NS, lambda: self._wake(version))

    def _wake(self, version: int) -> None:
        if version != self._version:
            return
        self._progress()
        finished = [work for work in self._works if work.left <= 0]
        self._works = [work for work in self._works if work.left > 0]
        self._plan()
        for work in finished:
            work.done(Span(work.begin_ns, self.clock.now_ns), work.alone_ns)
