"""Numbers of requests to language models: of each runtime and process, and between the tokens of each request."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tracekit.trace.frames import is_any, or_minus_one
from tracekit.trace.runtimes.phases import INTERVAL, POINT
from tracekit.trace.trace import Trace, cached_by_trace


@cached_by_trace
def token_intervals(trace: Trace) -> pd.DataFrame:
    """From each token of a request to the next, where these were recorded: `request` (its number), `token` (1 for the
    second token), `start_ns`, `duration_ns`, all int64, in order of request and time.

    Those that the runtime logged; where a request has none, the times between its tokens. O(n log n) in the phases.
    """
    frame = trace.phases
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
