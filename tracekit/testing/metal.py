"""What threads encode for the GPU, as measured on 17 warm predictions of three public recordings."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from operator import itemgetter

from tracekit.testing.machines import Thread, main_thread
from tracekit.testing.rows import CommandBufferRow, CoreMLRow, GpuRow, GraphRow
from tracekit.testing.scenario import Scenario
from tracekit.testing.stacks import PREDICT

_CREATED_NS, _ENCODER_NS = 440_000, 160_000
"""From the creation of a first command buffer, and from the beginning of its encoder, until it is committed."""
_GRAPH_NS, _LAST_NS = 7_000, 6_000
"""From that creation until the graph begins, and from the end of the graph until the last commit."""
_TOLD_NS = 92_000
"""From the end on the GPU until the process is told."""


def encode_graphs(scenario: Scenario, threads: Mapping[int, Thread] | None = None) -> None:
    """Add what is encoded for the work that predictions of the target have on the GPU, one graph for each operation.

    `threads`: which thread makes the prediction with this index in `Scenario.coreml`; where none is given, the thread
    whose samples show a prediction in it, else the main one. Nothing begins before its prediction, and the process is
    told at its end at the latest.
    """
    main = main_thread(scenario.target, scenario.thread)
    calls = (row for row in scenario.samples if row.stack is not None and PREDICT[0] in row.stack.frames)
    sampled = sorted(((row.time_ns, row.thread) for row in calls), key=itemgetter(0))
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
        thread = (threads or {}).get(index) or _sampled_in(call, sampled) or main
        own: list[CommandBufferRow] = []
        for row in sorted(rows, key=lambda each: each.start_ns):
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


def _sampled_in(call: CoreMLRow, sampled: Sequence[tuple[int, Thread]]) -> Thread | None:
    first = bisect_left(sampled, call.start_ns, key=itemgetter(0))
    inside = first < len(sampled) and sampled[first][0] < call.end_ns
    return sampled[first][1] if inside else None
