"""What a comparison says, in the words that all of its readable forms share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tracekit.comparison.latency import CHANGED, FEW, LASTING, MANY, MIN_PREDICTIONS, Answer, LatencyChange, Reason
from tracekit.comparison.measurements import Inexact
from tracekit.comparison.models import ModelComparison, Pair
from tracekit.detectors.inference import from_stacks
from tracekit.recording.contents import SIMULATOR
from tracekit.report.formatting import ABSENT
from tracekit.trace.events import DEVICE_NAMES, Device
from tracekit.units import DURATION_UNITS_NS, format_count, format_error, format_like, format_time

if TYPE_CHECKING:
    from tracekit.comparison.findings import FindingChange
    from tracekit.comparison.non_inferiority import Held


def arrow(before: str, after: str) -> str:
    """`before → after`."""
    return f"{before} → {after}"


def percent_change(ratio: float | None, finely: bool = False) -> str:
    """A ratio as a signed change: `+10%`, `−0.4%`; `–` where it is not known. `finely`: `+10.2%`."""
    if ratio is None:
        return ABSENT
    percent = (ratio - 1) * 100
    digits = 0 if abs(percent) >= 9.95 and not finely else 1
    text = f"{abs(percent):,.{digits}f}%"
    zero = not float(text.rstrip("%").replace(",", ""))
    return text if zero else f"{'+' if percent > 0 else '−'}{text}"


def interval(change: LatencyChange) -> str:
    """The interval of a ratio as changes: `−31% to −29%`; empty where there is none."""
    if change.low is None or change.high is None or change.reason is Reason.INEXACT:
        return ""
    return f"{percent_change(change.low)} to {percent_change(change.high)}"


def reason(change: LatencyChange) -> str:
    """Why an answer is inconclusive, and what would help; empty where it is not."""
    if change.reason is None:
        return ""
    fewest = min(max(side, default=0) for side in change.predictions)
    wanted, several = change.wanted, f"; compare at least {FEW} recordings per side"
    if change.effective is None:
        if change.reason not in (Reason.WIDE, Reason.SMALL):
            more = ""
        else:
            unlike = f"; {MANY} per side would not tell either: record them in the same state of the device and the app"
            more = f"; compare at least {wanted} recordings per side" if wanted else unlike
    elif wanted and wanted * max(change.before_ns or 0, change.after_ns or 0) <= LONGEST_NS:
        more = f"; record at least {wanted:,} {change.counted} per side"
    else:
        more = several if fewest >= MIN_PREDICTIONS and change.reason not in _NO_MORE else ""
    if change.reason is Reason.FEW and fewest < MIN_PREDICTIONS:
        # What the interval needs is less than what the question needs, and one number is enough.
        needed = more or f", {MIN_PREDICTIONS} needed"
        return f"{format_count(fewest, change.counted.removesuffix('s'))}{needed}"
    if change.reason is Reason.FEW and change.effective is not None:
        return f"{_REASONS[Reason.FEW]} (effective sample size {min(change.effective):.0f}){more}"
    if change.reason is Reason.SMALL and change.floor is not None:
        return f"changed, but maybe by less than {floor(change)}{more}"
    return _REASONS[change.reason] + more


LONGEST_NS = 300e9
"""Predictions that take longer are not asked for: recordings, of the length that there is, tell more (heuristic)."""


_NO_MORE = (Reason.INEXACT, Reason.HOT, Reason.SIMULATOR, Reason.UNEQUAL)
"""Why no more recordings would tell."""
_REASONS = {
    Reason.MISSING: "no latency on one side",
    Reason.FEW: "neighboring values are correlated",
    Reason.WIDE: "the interval is too wide to tell",
    Reason.SMALL: "changed, but maybe by less than what counts",
    Reason.NOT_STEADY: "not steady; one recording changes by as much within itself",
    Reason.INEXACT: "call stacks do not show calls this short exactly enough",
    Reason.MODES: "latencies cluster around several values, and both sides have some of them",
    Reason.SHORT: "too short to tell a change from a clock or compute unit that changes on its own",
    Reason.RUNS: "two recordings of one build may differ by as much",
    Reason.HOT: "one side ran hot, which alone can make a difference",
    Reason.SIMULATOR: SIMULATOR,
    Reason.UNEQUAL: "the recordings have too few predictions equally long after a load; longer ones may only be warmer",
}


def why_open(held: Held) -> str:
    """Why it cannot be told whether a model is slower than allowed, and what would help."""
    if held.reason in (None, Reason.WIDE):
        more = f"compare {held.needed} recordings per side" if held.needed else _HOPELESS
        return f"may be slower than allowed; {'record several runs' if max(map(len, held.predictions)) == 1 else more}"
    more = f"; record at least {LASTING} predictions" if held.reason is Reason.SHORT else ""
    return f"{_REASONS[held.reason]}{more}"


_HOPELESS = f"{MANY} recordings per side would not tell either"


def why_passed(held: Held) -> str:
    """Whether a model is shown to be not slower than allowed, or only not shown to be slower."""
    return "not slower than allowed" if held.high < held.allowed else "not shown to be slower"


def what_is_seen(held: Mapping[str, Held | None]) -> str:
    """The smallest slowdown that a check sees of each model, and what would make it see what is allowed; empty where
    the recordings do not show how much they differ."""
    known = [(name, one, one.seen) for name, one in held.items() if one is not None and one.seen is not None]
    beyond = sorted((entry for entry in known if entry[2] > entry[1].allowed), key=lambda entry: -entry[2])
    if not beyond:
        return "these recordings can show a slowdown of what is allowed" if known else ""
    each = [f"{seen * 100:.0f}% of {name}" for name, _, seen in beyond[:_LISTED]]
    each += [f"less of {format_count(len(beyond) - _LISTED, 'other model')}"] if len(beyond) > _LISTED else []
    _, worst, _ = beyond[0]
    allowed = f"{worst.allowed * 100:.0f}%"
    needed, most = max((one.needed or MANY + 1 for _, one, _ in beyond)), max(map(len, worst.predictions))
    more = f"{needed} recordings per side would make it {allowed}"
    if needed > MANY:
        more = f"{max(MANY, most)} recordings per side would not make it {allowed} either: allow more"
    return f"these recordings can show a slowdown of {', '.join(each)}; {more}"


_LISTED = 3
"""Models that are named in a sentence on all."""


def floor(change: LatencyChange) -> str:
    """From where on a change counts: `5%`."""
    return "what counts" if change.floor is None else f"{change.floor * 100:.2g}%"


def sample_counts(change: LatencyChange) -> str:
    """How many values the answer rests on: `139 and 139 predictions`."""
    worth = ""
    if change.effective is not None and any(
        effective < 0.9 * max(counts) for effective, counts in zip(change.effective, change.predictions, strict=True)
    ):
        worth = f" (effective sample size {' and '.join(f'{effective:.0f}' for effective in change.effective)})"
    return side_counts(change.predictions, change.counted) + worth


def side_counts(sides: Sequence[Sequence[int]], noun: str) -> str:
    """How many both sides have: `139 and 139 predictions`, `3 recordings of 580 to 600 predictions and 2 of 40`."""
    if max(map(len, sides)) < 2:
        return f"{' and '.join(f'{sum(side):,}' for side in sides)} {noun}"
    ends = ((min(side, default=0), max(side, default=0)) for side in sides)
    before, after = (" to ".join(f"{end:,}" for end in dict.fromkeys(pair)) for pair in ends)
    noun = noun.removesuffix("s") if before == "1" else noun
    return f"{format_count(len(sides[0]), 'recording')} of {before} {noun} and {len(sides[1])} of {after}"


def windowed(length: int) -> str:
    """That no more predictions after each load were compared."""
    return f", of the first {length:,} after each load"


_MOVED = 0.5
"""Share of a model's work that another compute unit does, from which on it has moved (heuristic)."""


def moved(model: ModelComparison) -> str:
    """`from the Neural Engine to the GPU (97% of compute)`, where another unit does most of the work that one did; else
    empty."""
    shares = [(DEVICE_NAMES[Device(name)], pair.before or 0, pair.after or 0) for name, pair in model.units]
    lost = [f"the {name}" for name, before, after in shares if before - after >= _MOVED]
    gained = [f"the {name} ({share(after)} of compute)" for name, before, after in shares if after - before >= _MOVED]
    return f"from {lost[0]} to {gained[0]}" if lost and gained else ""


def latencies(change: LatencyChange) -> str:
    """Medians before and after."""
    return pair_words(Pair(change.before_ns, change.after_ns), durations(change.resolution_ns))


def durations(resolution_ns: int) -> Callable[[float], str]:
    """Writes durations with the digits that are known."""
    return partial(format_time, resolution_ns=resolution_ns)


def answer(change: LatencyChange) -> str:
    """The answer with its size: `improved by 30%`, `unchanged within ±5%`."""
    if change.answer in CHANGED:
        return f"{change.answer} by {percent_change(change.ratio).lstrip('+−')}"
    if change.answer is Answer.UNCHANGED and change.floor is not None:
        return f"{change.answer} within ±{floor(change)}"
    return str(change.answer)


def signed_duration(time_ns: float, beside_ns: float = 0) -> str:
    """A difference of times: `+512 µs`, `−3.61 ms`, `0 ns`; in the unit and with the decimals of another one."""
    sign = "" if not round(time_ns) else "+" if time_ns > 0 else "−"
    return f"{sign}{format_like(abs(time_ns), abs(beside_ns or time_ns))}"


def pair_words(pair: Pair, form: Callable[[float], str]) -> str:
    """`373 → 5`; durations in one unit, that of the longer one: `12.4 → 8.68 ms`, `6.41 → 0.085 s`."""
    before, after = (ABSENT if value is None else form(value) for value in (pair.before, pair.after))
    units = [text.partition(" ")[2] for text in (before, after)]
    if pair.before is None or pair.after is None or not {*units} <= {*DURATION_UNITS_NS}:
        return arrow(before, after)
    if units[0] == units[1]:
        return arrow(before.partition(" ")[0], after)
    unit = max(units, key=DURATION_UNITS_NS.__getitem__)
    short = min(pair.before, pair.after) / DURATION_UNITS_NS[unit]
    digits = max(1 - math.floor(math.log10(short)), 0) if short > 0 else 0
    return arrow(
        before.removesuffix(f" {unit}") if units[0] == unit else f"{short:.{digits}f}",
        after if units[1] == unit else f"{short:.{digits}f} {unit}",
    )


def number(value: float) -> str:
    """A count, or the mean of several."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def margin(inexact: Inexact) -> str:
    """How exact inferred calls are: `from call stacks, ±1 ms (loads ±3 ms)`; empty for calls that Core ML recorded."""
    errors = dict.fromkeys(format_error(error) for error in (inexact.latency_ns, inexact.load_ns) if error)
    loads = f" (loads {[*errors][1]})" if len(errors) > 1 else ""
    return from_stacks(inexact.latency_ns or inexact.load_ns) + loads if errors else ""


def inference(inexact: tuple[Inexact, Inexact]) -> str:
    """How exact the calls of each side are that Core ML did not record; empty where there are none."""
    before, after = map(margin, inexact)
    if before == after:
        return f"; {before}" if before else ""
    return "".join(f"; {side}: {words}" for side, words in (("before", before), ("after", after)) if words)


def rates(change: FindingChange) -> str:
    """How many recordings have a finding: `5 of 10 → 0 of 1 recordings`; empty for one a side."""
    before, after = (f"{rate.found} of {rate.evaluated}" for rate in change.rates)
    return f"{arrow(before, after)} recordings" if max(rate.evaluated for rate in change.rates) > 1 else ""


def finding_models(change: FindingChange) -> str:
    """Which models a finding is about: `5 models`, a name, or nothing for the recording."""
    named = [name for name in change.models if name is not None]
    return "" if not named else named[0] if len(named) == 1 else format_count(len(named), "model")


def share(value: float) -> str:
    """A share in percent."""
    return f"{value * 100:.0f}%"
