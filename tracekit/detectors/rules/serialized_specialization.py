"""`serialized-specialization`: several models are prepared for the device one after another."""

from __future__ import annotations

from collections.abc import Sequence

import tracekit.detectors as tk
from tracekit.analysis.load_waits import hung_share, waits_for_loads
from tracekit.analysis.loads import LoadChain, load_chains, top_loads
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
    if not len(loads):
        return view.not_applicable(NO_LOAD)
    rule = (round(options.gap_ms * 1e6), options.min_models)
    surely, perhaps = waits_for_loads(loads, trace, options.soon_ms, options.warm_up_gap_s)
    felt = surely | (hung_share(loads, trace) >= max(options.hung_share, 1e-9))

    def chains_of(chosen: tk.BoolArray) -> tuple[LoadChain, ...]:
        return load_chains(loads.where(chosen), trace, *rule)

    chains = chains_of(cold & felt)
    costly = [chain for chain in chains if _costs(chain, options)]
    if costly:
        return _finding(view, costly, options)
    if any(_costs(chain, options, 2 * int(loads.resolution_ns.max())) for chain in chains):
        words = "Call stacks do not tell exactly enough how much longer these loads took together than the longest one."
        return view.unknown(words, tk.RECORD_CORE_ML)
    if any(chain.in_line is None for chain in chains):
        return view.unknown(
            "Several models were specialized at the same time; their loads overlap, and without Neural Engine rows it "
            "is unknown whether they waited for each other.",
            "Record with the Core ML template, which includes the Neural Engine instrument.",
        )
    for chain in chains_of((cold | unknown) & felt) if unknown.any() else ():
        if _costs(chain, options):
            return view.unknown(
                f"{chain.models} models were loaded one after another while the app waited, but the recording does "
                "not show whether they were specialized or loaded from the cache.",
                "Record two launches in a row: if the second loads are much shorter, the first ones specialized the "
                "models.",
            )
    if any(chain.in_line is None or _costs(chain, options) for chain in chains_of(cold & (felt | perhaps))):
        return view.unknown(
            "A gap follows the prediction right after models that were specialized in a row. Gaps are long throughout, "
            "so the recording does not show whether a user waited for that prediction or whether it warmed the model "
            "up.",
            "Record the feature from the loads on, with several predictions in a row.",
        )
    chains = chains_of(cold)
    longest = max(chains, key=lambda chain: chain.lost_ns, default=None)
    words = "No load is known to have specialized a model."
    if longest is not None:
        how = "in parallel in" if longest.in_line is False else "one after another in"
        words = f"{longest.models} models were specialized {how} {tk.format_time(longest.end_ns - longest.start_ns)}"
        words += "." if longest.in_line is False else "; no prediction waited long for it."
    elif cold.any():
        count = tk.format_count(int(cold.sum()), "load")
        words = f"{count} specialized a model, but never {options.min_models} models in a row."
    return view.passed(words, _metrics(longest, options))


def _costs(chain: LoadChain, options: Options, error_ns: int = 0) -> bool:
    """Whether standing in line cost enough to be felt, if times are off by so much."""
    return chain.lost_ns + error_ns >= max(options.min_lost_ms * 1e6, 1)


def _metrics(chain: LoadChain | None, options: Options) -> tuple[tk.Metric, ...]:
    """What was measured of the chain that costs most."""
    models, lost_ns, all_ns = (
        (0, 0, None) if chain is None else (chain.models, chain.lost_ns, chain.end_ns - chain.start_ns)
    )
    return (
        tk.above("models", "models specialized in a row", models, "count", options.min_models),
        tk.above("lost-time", "time beyond the longest load", lost_ns, "ns", round(options.min_lost_ms * 1e6)),
        tk.Metric("total-time", "total time of these loads", all_ns, "ns"),
    )


def _finding(view: tk.RecordingView, chains: Sequence[LoadChain], options: Options) -> tk.Outcome:
    """The finding with its cost: what the chains took beyond the longest load of each."""
    worst = max(chains, key=lambda chain: chain.lost_ns)
    rows = tk.joined([chain.loads for chain in chains])
    names = list(dict.fromkeys(worst.loads.model.as_objects().tolist()))
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
