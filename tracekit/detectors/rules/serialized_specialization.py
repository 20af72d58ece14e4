"""`serialized-specialization`: several models are prepared for the device one after another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

import tracekit.detectors as tk
from tracekit.analysis.load_waits import hung_share, next_call, setup_work, stand_alone
from tracekit.analysis.loads import LoadChain, load_chains, top_loads
from tracekit.analysis.statistics import top_calls
from tracekit.detectors.shared.options import hang_share_option, max_delay_option, warm_up_gap_option
from tracekit.detectors.shared.wording import NO_LOAD


class Options(tk.Options):
    min_models: int = tk.option(3, "models", "Heuristic: two in a row can be chance; a third makes a pattern.")
    gap_ms: float = tk.option(
        100.0, "ms", "Heuristic: loads that queue follow each other at once; a longer gap has another cause."
    )
    min_lost_ms: float = tk.option(250.0, "ms", "The delay from which the Hangs instrument reports a hang.")
    soon_ms: float = max_delay_option()
    hung_share: float = hang_share_option()
    warm_up_gap_s: float = warm_up_gap_option()


def detect(view: tk.RecordingView, options: Options) -> tk.Outcome:
    """Looks for chains of cold loads, each of which waits for the one before, at whose end somebody waited."""
    trace = view.trace
    loads, cold, unknown = top_loads(trace)
    if loads.empty:
        return view.not_applicable(NO_LOAD)
    rule = (round(options.gap_ms * 1e6), options.min_models)
    calls = top_calls(trace, tk.Kind.PREDICTION)
    chains = load_chains(tk.rows_where(loads, cold), trace, *rule) if cold.any() else ()
    long = [chain for chain in chains if chain.in_line is None or _costs(chain, options)]
    waited = [_has_waiter(chain, calls, trace, options) for chain in long]
    felt = [chain for chain, answer in zip(long, waited, strict=True) if answer]
    costly = [chain for chain in felt if _costs(chain, options)]
    if costly:
        return _finding(view, costly, options)
    if any(chain.in_line is None for chain in felt):
        return view.unknown(
            "Several models were specialized at the same time; their loads overlap, and without Neural Engine rows it "
            "is unknown whether they waited for each other.",
            "Record with the Core ML template, which includes the Neural Engine instrument.",
        )
    open_loads = loads.index[unknown]
    for chain in load_chains(tk.rows_where(loads, cold | unknown), trace, *rule) if unknown.any() else ():
        is_open = chain.loads.index.isin(open_loads).any() and _costs(chain, options)
        if is_open and _has_waiter(chain, calls, trace, options):
            return view.unknown(
                f"{chain.models} models were loaded one after another while the app waited, but the recording does "
                "not show whether they were specialized or loaded from the cache.",
                "Record two launches in a row: if the second loads are much shorter, the first ones specialized the "
                "models.",
            )
    if None in waited:
        return view.unknown(
            "A gap follows the prediction right after models that were specialized in a row. Gaps are long throughout, "
            "so the recording does not show whether a user waited for that prediction or whether it warmed the model "
            "up.",
            "Record the feature from the loads on, with several predictions in a row.",
        )
    longest = max(chains, key=lambda chain: chain.lost_ns, default=None)
    return view.passed(_why_not(longest, int(cold.sum()), options), _metrics(longest, options))


def _costs(chain: LoadChain, options: Options) -> bool:
    """Whether standing in line cost enough to be felt."""
    return chain.lost_ns >= max(options.min_lost_ms * 1e6, 1)


def _has_waiter(chain: LoadChain, calls: pd.DataFrame, trace: tk.Trace, options: Options) -> bool | None:
    """Whether a call of one of the models waited for the end of the chain, or the main thread for most of it; None
    where that call may have been one to warm the model up."""
    chain_row = pd.DataFrame({"start_ns": [chain.start_ns], "duration_ns": [chain.end_ns - chain.start_ns]})
    if "end_min_ns" in chain.loads:
        chain_row["end_min_ns"] = chain.loads["end_min_ns"].max()
    if hung_share(chain_row, trace)[0] >= max(options.hung_share, 1e-9):
        return True
    near = calls[calls["model"].isin(chain.loads["model"].unique()).to_numpy(dtype=bool)]
    index = int(next_call(chain_row, near, round(options.soon_ms * 1e6), setup_work(trace))[0])
    if index < 0:
        return False
    first = near.iloc[index]
    model_calls = calls[(calls["model"] == first["model"]).to_numpy(dtype=bool)]
    place = np.array([model_calls.index.get_loc(first.name)])
    surely, perhaps = stand_alone(model_calls, place, round(options.warm_up_gap_s * 1e9))
    return None if perhaps[0] else not surely[0]


def _metrics(chain: LoadChain | None, options: Options) -> tuple[tk.Metric, ...]:
    """What was measured of the chain that costs most."""
    models, lost_ns, all_ns = (
        (0, 0, None) if chain is None else (chain.models, chain.lost_ns, chain.end_ns - chain.start_ns)
    )
    return (
        tk.above("models specialized in a row", models, "count", options.min_models),
        tk.above("time beyond the longest load", lost_ns, "ns", round(options.min_lost_ms * 1e6)),
        tk.Metric("total time of these loads", all_ns, "ns"),
    )


def _why_not(longest: LoadChain | None, cold: int, options: Options) -> str:
    if not cold:
        return "No load is known to have specialized a model."
    if longest is None:
        return f"{tk.format_count(cold, 'load')} specialized a model, but never {options.min_models} models in a row."
    time = tk.format_time(longest.end_ns - longest.start_ns)
    if longest.in_line is False:
        return f"{longest.models} models were specialized in parallel in {time}."
    return f"{longest.models} models were specialized one after another in {time}; no prediction waited long for it."


def _finding(view: tk.RecordingView, chains: Sequence[LoadChain], options: Options) -> tk.Outcome:
    """The finding with its cost: what the chains took beyond the longest load of each."""
    worst = max(chains, key=lambda chain: chain.lost_ns)
    rows = pd.concat([chain.loads for chain in chains])
    names = list(dict.fromkeys(str(name) for name in worst.loads["model"]))
    all_ns = worst.end_ns - worst.start_ns
    again = "" if len(chains) == 1 else f" This happened {len(chains)} times."
    return view.finding(
        f"{worst.models} models were specialized one after another in {tk.format_time(all_ns)} while the app waited: "
        f"{tk.format_names(names, 5)}. The longest alone took {tk.format_time(all_ns - worst.lost_ns)}.{again}",
        _metrics(worst, options),
        cost=view.cost(
            min(sum(chain.lost_ns for chain in chains), tk.covered_ns(rows)),
            "Time of these loads beyond the longest one",
            "Specializing models ahead of time or in parallel saves it. Totals do not count time twice that cold-load "
            "reports too.",
            once=True,
        ),
        rows=rows,
    )


DETECTOR = tk.RecordingDetector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    joins=True,
    uses=("Neural Engine", "Hangs"),
    caused_by=("cold-load",),
    options=Options,
    detect=detect,
)
