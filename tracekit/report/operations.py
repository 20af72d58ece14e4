"""What ran beside Core ML, in words: phases of runtimes, and operations of the app."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tracekit.analysis.operations import Operation, OperationPart, Part
from tracekit.analysis.requests import REQUEST, RequestSummary
from tracekit.report.formatting import duration, word_list
from tracekit.report.private_text import alias_names
from tracekit.trace.runtimes.registry import PHASES
from tracekit.units import format_count, format_names, format_parts, format_percent, format_rate, format_time

if TYPE_CHECKING:
    from tracekit.analysis.runtimes import PhaseSummary, RuntimeSummary

UNCHECKED: Final = "No check evaluates these phases and operations yet."
"""Said of what signposts show: that nothing is found there means nothing."""


PART_WORDS: Final = {
    Part.CORE_ML: "Core ML",
    Part.RUNTIMES: "other runtimes",
    Part.APP_CODE: "app code",
    Part.GPU_WAIT: "waiting for the GPU",
    Part.GPU: "GPU at work",
    Part.NOT_RUNNING: "not running",
    Part.NOT_VISIBLE: "not visible",
}
"""Parts of an operation's time."""


def without_names(operations: Sequence[Operation]) -> tuple[Operation, ...]:
    """The operations as `operation A`, `operation B`, ... in place of the names that the app gave them."""
    aliases = alias_names([operation.name for operation in operations], "operation")
    return tuple(replace(operation, name=aliases[operation.name]) for operation in operations)


def without_tools(runtimes: Sequence[RuntimeSummary]) -> tuple[RuntimeSummary, ...]:
    """The runtimes with `tool A`, `tool B`, ... in place of the names of the app's tools."""
    of_tools = [phase.signpost for runtime in runtimes for phase in runtime.phases if phase.phase == "tool call"]
    aliases = alias_names(of_tools, "tool")

    def without(phase: PhaseSummary) -> PhaseSummary:
        return replace(phase, signpost=aliases[phase.signpost]) if phase.phase == "tool call" else phase

    return tuple(replace(runtime, phases=tuple(map(without, runtime.phases))) for runtime in runtimes)


def what_ran(
    runtimes: Sequence[RuntimeSummary], operations: Sequence[Operation], requests: Sequence[RequestSummary] = ()
) -> str:
    """What ran, in one sentence: `WhisperKit ran (42 signposts) and 2 operations of the app.` Empty where nothing shows
    any. Of a language model its requests are said, which its phases are parts of."""
    asked = {request.runtime for request in requests}
    logged = [request_words(request) for request in requests]
    for runtime in runtimes:
        if runtime.phases and runtime.name not in asked:
            # How often its phases ran, requests first and what comes before them last.
            counts: Counter[str] = Counter()
            for phase in sorted(
                runtime.phases, key=lambda one: (one.lane == PHASES["load"], [*PHASES].index(one.phase))
            ):
                counts[phase.phase] += phase.count
            times = [f"{name} {format_count(count, 'time')}" for name, count in counts.items()]
            logged.append(f"{runtime.name} ran ({format_names(times)})")
    ended = [
        (operation.name, operation.statistics.count) for operation in operations if operation.statistics is not None
    ]
    if ended:
        names = format_names([f"{name} {format_count(count, 'time')}" for name, count in ended])
        logged.append(f"the app ran {names}")
    text = word_list(logged)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def request_words(requests: RequestSummary) -> str:
    """`Core AI language model ran 3 requests: first token 168 ms (median), 63.6 tokens/s generated`."""
    numbers = requests.quantities
    first, speed = numbers["first_token_p50_ns"], numbers["generation_tokens_per_second"]
    facts = (
        f"first token {format_time(first)}{' (median)' if requests.requests > 1 else ''}" if first is not None else "",
        f"{format_rate(speed, ' tokens/s')} generated" if speed is not None else "",
        f"{format_count(sum(requests.errors.values()), 'error')} ({_errors(requests)})" if requests.errors else "",
    )
    words = ", ".join(filter(None, facts))
    return f"{requests.name} ran {format_count(requests.requests, 'request')}{f': {words}' if words else ''}"


def _errors(requests: RequestSummary) -> str:
    """`refusal 2 times, timeout 1 time`."""
    return ", ".join(f"{kind} {format_count(count, 'time')}" for kind, count in requests.errors.items())


REQUEST_TITLES: Final = {"requests": "requests", **{name: quantity.title for name, quantity in REQUEST.items()}}
"""What is said of the requests to a language model, by id."""


def request_value(requests: RequestSummary, name: str) -> float | None:
    """One of `REQUEST_TITLES`; None where it is not known."""
    return requests.quantities[name] if name in REQUEST else requests.requests


def request_number(requests: RequestSummary, name: str) -> str:
    """The same in words."""
    number, unit = request_value(requests, name), REQUEST[name].unit if name in REQUEST else "count"
    if number is None or unit == "ns":
        return duration(number)
    if unit == "/s":
        return format_rate(number, "")
    return format_percent(number) if unit == "share" else f"{number:,.0f}"


UNVALIDATED_WORDS: Final = "unvalidated, since no public recording shows the rows of its tables"


def request_notes(requests: RequestSummary) -> Iterator[str]:
    """What the numbers of requests do not say, a line each."""
    total = requests.requests
    if requests.errors:
        yield f"{sum(requests.errors.values())} of {total} requests ended with an error ({_errors(requests)})"
    if requests.tools:
        yield format_count(requests.tools, "tool call")
    if requests.overlapping:
        yield f"{requests.overlapping} of {total} requests ran while another did"
    if requests.uncertain:
        yield f"parts of {requests.uncertain} of {total} requests may be another's, and are in no number"
    if requests.unfinished:
        yield f"{requests.unfinished} of {total} requests without an end; their numbers are those so far"
    if requests.unvalidated:
        yield UNVALIDATED_WORDS


def parts_words(parts: Sequence[OperationPart]) -> list[tuple[str, str]]:
    """Each part and its mean: `Core ML`, `12.43 ms`."""
    means = format_parts([part.mean_ns for part in parts])
    return [(PART_WORDS[Part(part.part)], mean) for part, mean in zip(parts, means, strict=True)]
