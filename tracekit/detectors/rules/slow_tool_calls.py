"""`slow-tool-calls`: requests to a language model spend their time in tools."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.detectors.shared.requests import USES, Asked, judge_requests


class Options(tk.Options):
    share: float = tk.option(
        0.3, "share of a request's time", "Heuristic: below, the model itself decides how long a request takes."
    )
    min_time_ms: float = tk.option(500.0, "ms", "Heuristic: in a chat, a shorter wait for a tool is not noticed.")


@judge_requests
def detect(asked: Asked, options: Options) -> tk.Outcome:
    """Compares the time in tools with that of the request, for each request."""
    view, tools, calls = asked.view, asked.rows.tool_ns.or_nan(), asked.rows.tools.or_nan()
    known = ~np.isnan(tools)
    if not known.any():
        return asked.unknown("The recording does not show tool calls.")
    if not np.nansum(calls):
        if view.trace.phases.phase.is_any("tool call").any():
            return asked.unknown("Tool calls were recorded, but not which requests made them.")
        return view.not_applicable("No request called a tool.")
    share = np.where(known, tools, 0) / np.maximum(asked.elapsed_ns, 1)
    least_ns = round(options.min_time_ms * 1e6)
    bound = known & (share >= options.share) & (tools >= max(least_ns, 1))
    worst = int(np.argmax(np.where(bound if bound.any() else known & (calls > 0), share, -1)))
    repeated, identity = 0, view.trace.phases.said.cells.get("identity")
    if isinstance(identity, tk.Numbers):
        named = np.flatnonzero(asked.phases("tool call") & identity.known)
        pairs = np.column_stack((view.trace.phases.request.values[named], identity.values[named]))
        repeated = len(named) - len(np.unique(pairs, axis=0))
    metrics = (
        tk.above("tool-share", "largest share of a request in tools", float(share[worst]), "share", options.share),
        tk.above("tool-time", "time in tools, that request", int(tools[worst]), "ns", least_ns),
        tk.Metric("requests", "requests that wait for tools", int(bound.sum()), "count"),
        tk.Metric("repeated-calls", "calls repeated with the same arguments", repeated, "count"),
    )
    with_tools = int((known & (calls > 0)).sum())
    if not bound.any():
        words = f"Of {tk.format_count(with_tools, 'request')} with tools, none waits for them"
        return view.passed(f"{words}: at most {tk.format_share(share[worst])} of its time is in tools.", metrics)
    time_ns = int(tools[bound].sum())
    whole = tk.format_time(int(asked.elapsed_ns[bound].sum()))
    same = f"; {tk.format_count(repeated, 'call')} repeated one with the same arguments" if repeated else ""
    return asked.finding(
        f"{int(bound.sum()):,} of {tk.format_count(with_tools, 'request')} with tools spent {tk.format_time(time_ns)} "
        f"of {whole} in them, up to {tk.format_share(share[worst])} of one request{same}.",
        metrics,
        bound,
        cost=(time_ns, "Elapsed time of tool calls", asked.times("tool call", of=bound)),
        longest_wait_ns=int(tools[bound].max()),
    )


DETECTOR = tk.RecordingDetector(uses=USES, options=Options, detect=detect)
