"""What threads encode for the GPU, as measured on 17 warm predictions of three public recordings."""

from __future__ import annotations

from collections.abc import Mapping

from tracekit.testing.machines import Thread
from tracekit.testing.rows import CommandBufferRow, GpuRow, GraphRow
from tracekit.testing.scenario import Scenario
from tracekit.testing.tables import main_thread

_CREATED_NS, _ENCODER_NS = 440_000, 160_000
"""From the creation of a first command buffer, and from the beginning of its encoder, until it is committed."""
_GRAPH_NS, _LAST_NS = 7_000, 6_000
"""From that creation until the graph begins, and from the end of the graph until the last commit."""
_TOLD_NS = 92_000
"""From the end on the GPU until the process is told."""


def encode_graphs(scenario: Scenario, threads: Mapping[int, Thread] | None = None) -> None:
    """Add what is encoded for the work that predictions of the target have on the GPU, one graph for each operation.

    `threads`: which thread makes the prediction with this index in `Scenario.coreml`; the main thread where none is
    given. Nothing begins before its prediction, and the process is told at its end at the latest.
    """
    main = main_thread(scenario.target, scenario.thread)
    work = [row for row in scenario.gpu if row.process == scenario.target]
    graphs = {row.command_buffer_id: row.graph for row in scenario.mps}
    by_graph: dict[tuple[int, str], list[GpuRow]] = {}
    for row in work:
        if row.prediction is not None:
            program = row.command_buffer.partition(":")[0].rstrip("+")
            by_graph.setdefault((row.prediction, program), []).append(row)
    for (index, _), rows in by_graph.items():
        call, thread, free = scenario.coreml[index], (threads or {}).get(index, main), 0
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
