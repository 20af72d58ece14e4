"""What threads encode for the GPU, as measured on 17 warm predictions of three public recordings."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from operator import itemgetter

from tracekit.testing.machines import Thread, main_thread
from tracekit.testing.rows import CommandBufferRow, CoreMLRow, GpuRow, GraphRow
from tracekit.testing.scenario import Scenario
from tracekit.testing.stacks import BIND, EXECUTE, OPERATIONS, PREDICT, Frame, SampleRow, Stack

_CREATED_NS, _ENCODER_NS = 440_000, 160_000
"""From the creation of a first command buffer, and from the beginning of its encoder, until it is committed."""
_GRAPH_NS, _LAST_NS = 7_000, 6_000
"""From that creation until the graph begins, and from the end of the graph until the last commit."""
_TOLD_NS = 92_000
"""From the end on the GPU until the process learns of it."""
_BOUND_NS, _BINDS, _FREED_NS = 300_000, 50, 830_000
"""From the beginning of a prediction until it is bound, which also is this part of it; from the instant at which the
process learns of it until memory is freed."""


def encode_graphs(
    scenario: Scenario,
    threads: Mapping[int, Thread] | None = None,
    callers: Mapping[int, tuple[Frame, ...]] | None = None,
) -> None:
    """Add what is encoded for the work that predictions of the target have on the GPU, one graph for each operation.

    `threads`: which thread makes the prediction with this index in `Scenario.coreml`, and `callers` the frames around
    it, the innermost first; where none is given, those of a sample in it, else the main thread, and the driver of the
    GPU keeps no stacks. Nothing begins before its prediction, and the process learns of it at its end at the latest.
    """
    main = main_thread(scenario.target, scenario.thread)
    calls = (row for row in scenario.samples if row.stack is not None and PREDICT[0] in row.stack.frames)
    sampled = sorted(((row.time_ns, row) for row in calls), key=itemgetter(0))
    work = [row for row in scenario.gpu if row.process == scenario.target]
    graphs = {row.command_buffer_id: row.graph for row in scenario.mps}
    by_graph: dict[tuple[int, str], list[GpuRow]] = {}
    for row in work:
        # Where rows were taken away, an index may be of anything.
        call = None if row.prediction is None else next(iter(scenario.coreml[row.prediction :]), None)
        if row.prediction is not None and call is not None and call.start_ns <= row.start_ns < call.end_ns:
            program = row.command_buffer.partition(":")[0].rstrip("+")
            by_graph.setdefault((row.prediction, program), []).append(row)
    for (index, _), rows in by_graph.items():
        call, free = scenario.coreml[index], 0
        first = bisect_left(sampled, call.start_ns, key=itemgetter(0))
        inside = first < len(sampled) and sampled[first][0] < call.end_ns
        sample = sampled[first][1] if inside else None
        thread = (threads or {}).get(index) or (sample.thread if sample else main)
        own: list[CommandBufferRow] = []
        for row in sorted(rows, key=lambda row: row.start_ns):
            committed = max(row.start_ns - row.latency_ns, call.start_ns)
            created = max(committed - _CREATED_NS, free, call.start_ns)
            free = committed = max(committed, created)
            told = max(min(row.end_ns + _TOLD_NS, call.end_ns), row.end_ns)
            ids, encoder = (row.command_buffer_id, row.encoder_id), min(_ENCODER_NS, committed - created)
            label = row.command_buffer.partition(":")[0]
            own.append(CommandBufferRow(created, committed - created, label, *ids, encoder, told, thread))
        begin, end = own[0].start_ns + _GRAPH_NS, own[-1].end_ns - _LAST_NS
        graph = graphs.get(own[0].command_buffer_id, 0)
        scenario.graphs.append(GraphRow(begin, max(end - begin, 0), graph, thread))
        scenario.command_buffers += own
        called = (callers or {}).get(index) or _callers(sample)
        if called and call.prediction is None:
            _ask_driver(scenario, call, thread, called, [row.start_ns for row in rows], own[-1].completed_ns)


def _ask_driver(
    scenario: Scenario, call: CoreMLRow, thread: Thread, callers: tuple[Frame, ...], works: Sequence[int], told: int
) -> None:
    """Some of the thousand times that a prediction asks the driver of the GPU for something: while its inputs are
    bound, as its work is submitted, and as memory is freed. `works`: when the GPU begins each piece."""
    bound = min(_BOUND_NS, max(20_000, call.duration_ns // _BINDS), works[0] - call.start_ns) - 1
    freed = min(told + _FREED_NS, call.end_ns - 1)
    binds = {*range(call.start_ns + bound // 2, call.start_ns + bound + 1, max(bound // 2, 1))} if bound > 0 else set()
    runs = {works[0], works[-1], max(freed, works[-1])}
    for times, inner in ((binds, (BIND,)), (runs, (OPERATIONS["gpu"], EXECUTE))):
        stack = Stack((*inner, *PREDICT, *callers))
        scenario.driver += [SampleRow(time, thread, stack) for time in sorted(times)]


def _callers(sample: SampleRow | None) -> tuple[Frame, ...]:
    """What called Core ML."""
    frames = () if sample is None or sample.stack is None else sample.stack.frames
    return frames[frames.index(PREDICT[-1]) + 1 :] if PREDICT[-1] in frames else ()
