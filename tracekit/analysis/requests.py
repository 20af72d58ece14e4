"""Numbers of requests to language models, each once: of each runtime, and between the tokens of each request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from tracekit.analysis.quantities import Population, Quantity, median, quantiles
from tracekit.arrays import FloatArray, IntArray
from tracekit.trace.context import of_target
from tracekit.trace.filter import Shown
from tracekit.trace.frames import is_any, or_minus_one
from tracekit.trace.requests.frame import NO_ERROR, REQUESTS
from tracekit.trace.runtimes.phases import INTERVAL, POINT
from tracekit.trace.trace import Trace, cached_by_trace

LEAST_THIRD: Final = 2
"""Requests in the first and in the last third of all, below which a lasting speed says nothing. Our judgment."""


@dataclass(frozen=True, slots=True, eq=False)
class RequestSample:
    """What the numbers of one runtime follow from."""

    requests: pd.DataFrame
    """Rows of `Trace.requests`."""
    between_ns: IntArray
    """Times from token to token, in order of requests and time."""

    def known(self, *columns: str) -> list[FloatArray]:
        """The columns, of the requests in which all of them are known."""
        rows = self.requests[[*columns]].dropna()
        return [rows[column].to_numpy(np.float64) for column in columns]

    @property
    def elapsed_ns(self) -> IntArray:
        """How long each request took, or has taken at the end of the recording."""
        return (self.requests["last_ns"] - self.requests["start_ns"]).to_numpy(np.int64)


def _time(column: str, level: float) -> Callable[[RequestSample], float | None]:
    return lambda sample: quantiles(sample.known(column)[0].astype(np.int64), level)[0]


def _rate(tokens: str, time_ns: str) -> Callable[[RequestSample], float | None]:
    def formula(sample: RequestSample) -> float | None:
        count, time = (float(each.sum()) for each in sample.known(tokens, time_ns))
        return count / time * 1e9 if time > 0 and count > 0 else None

    return formula


def _share(part: str, whole: str = "") -> Callable[[RequestSample], float | None]:
    def formula(sample: RequestSample) -> float | None:
        has = sample.requests[part].notna() & (sample.requests[whole].notna() if whole else True)
        of = sample.requests[whole].to_numpy(np.float64, na_value=0) if whole else sample.elapsed_ns
        total = float(of[has.to_numpy()].sum())
        return float(sample.requests[part][has].sum()) / total if total > 0 else None

    return formula


def _retained(sample: RequestSample) -> float | None:
    tokens, time_ns = sample.known("generated_tokens", "generation_ns")
    speeds = tokens[time_ns > 0] / time_ns[time_ns > 0] * 1e9
    third = len(speeds) // 3
    return float(np.median(speeds[-third:]) / np.median(speeds[:third])) if third >= LEAST_THIRD else None


def _longest(column: str) -> Callable[[RequestSample], float | None]:
    return lambda sample: max(sample.known(column)[0].tolist(), default=None)


def _quantity(
    name: str, title: str, unit: str, formula: Callable[[RequestSample], float | None], best: bool | None = False
) -> Quantity:
    return Quantity(name, title, unit, formula, Population.ALL, best)


REQUEST: Final[Mapping[str, Quantity]] = {
    each.id: each
    for each in (
        _quantity("first_token_p50_ns", "first token", "ns", _time("first_token_ns", 0.5)),
        _quantity("first_token_p95_ns", "first token, p95", "ns", _time("first_token_ns", 0.95)),
        _quantity("prompt_tokens_per_second", "prompt tokens/s", "/s", _rate("processed_tokens", "prompt_ns"), True),
        _quantity(
            "generation_tokens_per_second", "generated tokens/s", "/s", _rate("generated_tokens", "generation_ns"), True
        ),
        _quantity("token_p50_ns", "next token", "ns", lambda sample: median(sample.between_ns)),
        _quantity("token_p95_ns", "next token, p95", "ns", lambda sample: quantiles(sample.between_ns, 0.95)[0]),
        _quantity("outside_share", "outside the model", "share", _share("outside_ns")),
        _quantity("tool_share", "in tools", "share", _share("tool_ns")),
        _quantity("context_tokens", "longest context", "count", _longest("context_tokens"), None),
        _quantity("cached_share", "cached", "share", _share("cached_tokens", "consumed_tokens"), True),
        _quantity("retained_speed", "speed kept", "share", _retained, True),
    )
}
"""Numbers of the requests of one runtime, by id. Rates are of all tokens by all time. `outside_share`: tokenizer,
sampling and cache; `retained_speed`: median speed of generation of the last third of requests by that of the first."""


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
    rows, between = trace.requests.frame()[chosen], token_intervals(trace)
    several = len(rows["pid"].unique()) > 1
    found: list[tuple[int | None, RequestSample]] = []
    for _, part in rows.groupby(["runtime", "model", "pid"], observed=True, dropna=False, sort=False):
        own = between["duration_ns"][between["request"].isin(part["request"])].to_numpy(np.int64)
        pid = int(or_minus_one(part["pid"])[0])
        found.append((pid if several and pid >= 0 else None, RequestSample(part, own)))
    return found


def name_of(pid: int | None, sample: RequestSample) -> str:
    """`RequestSummary.name` of requests."""
    return _summary(pid, sample).name


def _summary(pid: int | None, sample: RequestSample) -> RequestSummary:
    rows = sample.requests
    first = rows.iloc[0]
    errors = Counter(kind for kind in rows["error"].dropna() if kind != NO_ERROR)
    return RequestSummary(
        str(first["runtime"]),
        None if pd.isna(first["model"]) else str(first["model"]),
        pid,
        len(rows),
        int(rows["duration_ns"].isna().sum()),
        int(rows["overlapping"].sum()),
        int(rows["uncertain"].sum()),
        dict(errors.most_common()),
        None if rows["tools"].isna().all() else int(rows["tools"].sum()),
        {name: quantity.formula(sample) for name, quantity in REQUEST.items()},
        bool(rows["unvalidated"].any()),
    )


@cached_by_trace
def token_intervals(trace: Trace) -> pd.DataFrame:
    """From each token of a request to the next, where these were recorded: `request` (its number), `token` (1 for the
    second token), `start_ns`, `duration_ns`, all int64, in order of request and time.

    Those that the runtime logged; where a request has none, the times between its tokens. O(n log n) in the phases.
    """
    frame = trace.phases.frame()
    owner = or_minus_one(frame["request"])
    logged = is_any(frame["phase"], "token interval") & is_any(frame["form"], INTERVAL) & (owner >= 0)
    starts, lengths = frame["start_ns"].to_numpy(), frame["duration_ns"].array.to_numpy(np.int64, na_value=0)
    tokens = is_any(frame["phase"], "token") & is_any(frame["form"], POINT) & (owner >= 0)
    tokens &= ~np.isin(owner, owner[logged])
    at = np.flatnonzero(tokens)
    at = at[np.argsort(owner[at], kind="stable")]
    same = owner[at[1:]] == owner[at[:-1]]
    before, after = at[:-1][same], at[1:][same]
    found = pd.DataFrame(
        {
            "request": np.concatenate([owner[logged], owner[before]]),
            "start_ns": np.concatenate([starts[logged], starts[before]]),
            "duration_ns": np.concatenate([lengths[logged], starts[after] - starts[before]]),
        }
    ).sort_values(["request", "start_ns"], ignore_index=True)
    found.insert(1, "token", found.groupby("request").cumcount() + 1)
    return found
