"""`sequential-operations`: recurrent layers and control flow."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import code, name_list, no_operations

RECURRENT = ("lstm", "gru", "rnn", "uni_directional_lstm", "bi_directional_lstm", "simple_recurrent")
"""Operations of programs and layers of networks that go through a sequence step by step."""
CONTROL_FLOW = (
    "while_loop",
    "cond",
    "loop",
    "branch",
    "make_list",
    "list_read",
    "list_write",
    "list_gather",
    "list_scatter",
)


def detect(view: tk.InspectedModel, _options: tk.NoOptions) -> tk.Outcome:
    """Counts them."""
    model = view.model
    counts = dict(model.counts)
    if not counts:
        return no_operations(view)
    sequential = {name: counts[name] for name in (*RECURRENT, *CONTROL_FLOW) if name in counts}
    metrics = (tk.Metric("sequential", "recurrent and control-flow operations", sum(sequential.values()), "count"),)
    if not sequential:
        return view.passed("No recurrent or control-flow operation.", metrics)
    words = name_list(f"{count:,} {code(name)}" for name, count in sequential.items())
    total = sum(counts.values())
    among = f" among {tk.format_count(total, 'operation')}" if total > sum(sequential.values()) else ""
    return view.finding(f"{words}{among}: may run on the CPU{', and may split the rest' if among else ''}.", metrics)


DETECTOR = tk.ModelFileDetector(options=tk.NoOptions, detect=detect)
