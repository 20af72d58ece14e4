"""Numbers of requests to language models, each once: of each runtime, and between the tokens of each request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracekit.analysis.quantities import Population, Quantity, median, quantiles
from tracekit.arrays import IntArray
from tracekit.columns import Numbers, all_known, column
from tracekit.rows import Rows, group_ids
from tracekit.sorting import equal_groups
from tracekit.trace.context import of_target
from tracekit.trace.filter import Shown
from tracekit.trace.requests.frame import NO_ERROR, REQUESTS, Requests
from tracekit.trace.runtimes.phases import INTERVAL, POINT
from tracekit.trace.trace import Trace, cached_by_trace

LEAST_THIRD: Final = 2
"""Requests in the first and in the last third of all, below which a lasting speed says nothing. Our judgment."""


@dataclass(frozen=True, slots=True, eq=False)
class RequestSample:
    """What the numbers of one runtime follow from."""

    rows: Requests
    between_ns: IntArray
    """Times from token to token, in order of requests and time."""

    @property
    def elapsed_ns(self) -> Numbers:
        """How long each request took, or has taken at the end of the recording."""
        return all_known(self.rows.last_ns - self.rows.start_ns)


def known_together(*columns: Numbers) -> list[IntArray]:
    """The columns of requests, of those in which all of them are known."""
    known = np.logical_and.reduce([each.known for each in columns])
    return [each.values[known] for each in columns]


def _time(time_ns: Numbers, level: float) -> float | None:
    return quantiles(time_ns.values[time_ns.known], level)[0]


def _rate(tokens: Numbers, time_ns: Numbers) -> float | None:
    count, time = (float(each.sum()) for each in known_together(tokens, time_ns))
    return count / time * 1e9 if time > 0 and count > 0 else None


def _share(part: Numbers, whole: Numbers) -> float | None:
    some, total = (float(each.sum()) for each in known_together(part, whole))
    return some / total if total > 0 else None


def _speed_kept(tokens: Numbers, time_ns: Numbers) -> float | None:
    generated, time = known_together(tokens, time_ns)
    speeds = generated[time > 0] / time[time > 0] * 1e9
    third = len(speeds) // 3
    return float(np.median(speeds[-third:]) / np.median(speeds[:third])) if third >= LEAST_THIRD else None


def _longest(tokens: Numbers) -> float | None:
    return float(tokens.values[tokens.known].max()) if tokens.known.any() else None


def _quantity(
    name: str, title: str, unit: str, formula: Callable[[RequestSample], float | None], best: bool | None = False
) -> Quantity:
    return Quantity(name, title, unit, formula, Population.ALL, best)


REQUEST: Final[Mapping[str, Quantity]] = {
    each.id: each
    for each in (
        _quantity("first_token_p50_ns", "first token", "ns", lambda of: _time(of.rows.first_token_ns, 0.5)),
        _quantity("first_token_p95_ns", "first token, p95", "ns", lambda of: _time(of.rows.first_token_ns, 0.95)),
        _quantity(
            *("prompt_tokens_per_second", "prompt tokens/s", "/s"),
            lambda of: _rate(of.rows.processed_tokens, of.rows.prompt_ns),
            best=True,
        ),
        _quantity(
            *("generation_tokens_per_second", "generated tokens/s", "/s"),
            lambda of: _rate(of.rows.generated_tokens, of.rows.generation_ns),
            best=True,
        ),
        _quantity("token_p50_ns", "next token", "ns", lambda of: median(of.between_ns)),
        _quantity("token_p95_ns", "next token, p95", "ns", lambda of: quantiles(of.between_ns, 0.95)[0]),
        _quantity("outside_share", "outside the model", "share", lambda of: _share(of.rows.outside_ns, of.elapsed_ns)),
        _quantity("tool_share", "in tools", "share", lambda of: _share(of.rows.tool_ns, of.elapsed_ns)),
        _quantity("context_tokens", "longest context", "count", lambda of: _longest(of.rows.context_tokens), None),
        _quantity(
            "cached_share", "cached", "share", lambda of: _share(of.rows.cached_tokens, of.rows.consumed_tokens), True
        ),
        _quantity(
            *("speed_kept", "speed kept", "share"),
            lambda of: _speed_kept(of.rows.generated_tokens, of.rows.generation_ns),
            best=True,
        ),
    )
}
"""Numbers of the requests of one runtime, by id. Rates are of all tokens by all time. `outside_share`: tokenizer,
sampling and cache; `speed_kept`: median speed of generation of the last third of requests by that of the first."""


@dataclass(frozen=True, slots=True)
class RequestSummary:
    """Requests to one language model."""

    runtime: str
    """What ran it."""
    model: str | None
    """None where it is not named."""
    pid: int | None
    """Of the process that asked, where several did; else null."""
    requests: int
    """How many."""
    unfinished: int
    """Those without an end in the recording: their numbers are those so far."""
    overlapping: int
    """Those during which another one ran."""
    uncertain: int
    """Those of which parts may be another's, so that these are in no number."""
    errors: dict[str, int]
    """Requests by kind of error; empty where none is known."""
    tools: int | None
    """Calls of tools; null: not recorded."""
    quantities: dict[str, float | None]
    """Numbers by id (`REQUEST`). null: not recorded, or too few values."""
    unvalidated: bool
    """Whether it rests on tables of which no public recording shows the rows."""

    @property
    def name(self) -> str:
        """What tells it from others: `Core AI language model`, `Foundation Models, SystemLanguageModel (pid 12)`."""
        asked = f" (pid {self.pid})" if self.pid is not None else ""
        return f"{self.runtime}{f', {self.model}' if self.model else ''}{asked}"


def summarize_requests(trace: Trace, shown: Shown | None = None) -> tuple[RequestSummary, ...]:
    """Numbers of the target's requests by runtime, model, process. `shown`: which count; None for all. O(n log n)."""
    return tuple(_summary(*group) for group in request_groups(trace, shown))


def request_groups(trace: Trace, shown: Shown | None = None) -> list[tuple[int | None, RequestSample]]:
    """The requests that count and their sources, by runtime, model, and process: its pid where there are several."""
    if not len(trace.requests):
        return []
    chosen = of_target(trace.requests.pid, trace.run.target.process)
    if shown is not None and REQUESTS in shown.context:
        chosen &= shown.context[REQUESTS]
    rows, between = trace.requests.where(chosen), token_intervals(trace)
    pids = rows.pid.filled()
    several = len(set(pids.tolist())) > 1
    found: list[tuple[int | None, RequestSample]] = []
    for at in equal_groups(group_ids([rows.runtime.codes, rows.model.codes, pids], len(rows))):
        part, pid = rows.at(at), int(pids[at[0]])
        own = between.duration_ns[np.isin(between.request, part.request)]
        found.append((pid if several and pid >= 0 else None, RequestSample(part, own)))
    return found


def name_of(pid: int | None, sample: RequestSample) -> str:
    """`RequestSummary.name` of requests."""
    return _summary(pid, sample).name


def _summary(pid: int | None, sample: RequestSample) -> RequestSummary:
    rows = sample.rows
    errors = Counter[str](kind for kind in rows.error.as_objects().tolist() if kind not in (None, NO_ERROR))
    return RequestSummary(
        str(rows.runtime.item(0)),
        rows.model.item(0),
        pid,
        len(rows),
        int((~rows.duration_ns.known).sum()),
        int(rows.overlapping.sum()),
        int(rows.uncertain.sum()),
        dict(errors.most_common()),
        int(rows.tools.values.sum()) if rows.tools.known.any() else None,
        {name: quantity.formula(sample) for name, quantity in REQUEST.items()},
        bool(rows.unvalidated.any()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class TokenIntervals(Rows):
    """From each token of a request to the next, in order of request and time."""

    request: IntArray = column("number of the request")
    token: IntArray = column("1 for the second token of the request")
    start_ns: IntArray = column("start")
    duration_ns: IntArray = column("duration")


@cached_by_trace
def token_intervals(trace: Trace) -> TokenIntervals:
    """Times from token to token, where these were recorded.

    Those that the runtime logged; where a request has none, the times between its tokens. O(n log n) in the phases.
    """
    rows = trace.phases
    owner, starts = rows.request.filled(), rows.start_ns
    logged = rows.phase.is_any("token interval") & rows.form.is_any(INTERVAL) & (owner >= 0)
    tokens = rows.phase.is_any("token") & rows.form.is_any(POINT) & (owner >= 0)
    tokens &= ~np.isin(owner, owner[logged])
    at = np.flatnonzero(tokens)
    at = at[np.argsort(owner[at], kind="stable")]
    same = owner[at[1:]] == owner[at[:-1]]
    before, after = at[:-1][same], at[1:][same]
    request = np.concatenate([owner[logged], owner[before]])
    start = np.concatenate([starts[logged], starts[before]])
    duration = np.concatenate([rows.duration_ns.values[logged], starts[after] - starts[before]])
    order = np.lexsort((start, request))
    request = request[order]
    token = np.arange(len(order)) - np.searchsorted(request, request) + 1
    return TokenIntervals(request, token, start[order], duration[order])
