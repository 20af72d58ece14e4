"""What of a recording is shown: what the user asks for by name, and no more than a report holds.

An error about a name that the recording does not hold offers those it holds, without what a report leaves out.

Detectors judge a whole recording. An answer about something that is not shown is left out, or said to be about
something else. None is ever made from less than the whole recording, so that a choice can hide a finding and never turn
it into another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tracekit.detectors.framework import Detector, Judgment, ListedDetector
from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Outcome
from tracekit.detectors.pages import Pattern
from tracekit.errors import UnreadableRecording, UsageError, unknown
from tracekit.grouping import grouped
from tracekit.intervals import Intervals
from tracekit.recording.table import TableState
from tracekit.report.formatting import moment, visible
from tracekit.report.redact import PrivateFacts, private_facts, redact_text
from tracekit.trace import filter as filters
from tracekit.trace.context import of_target
from tracekit.trace.events import LOAD_KINDS, Attribution, Kind, Level
from tracekit.trace.instruments.catalogue import CORE_ML
from tracekit.trace.instruments.tables import Signposts
from tracekit.trace.requests.frame import INSTRUMENT as FOUNDATION_MODELS, REQUESTS
from tracekit.trace.trace import Trace
from tracekit.units import format_count, format_names, format_time

MAX_MODELS = 1_500
"""Models of one report. Each takes 36 ms and 33 kB of JSON, together about a minute. Apps have fewer than twenty."""
LEFT_OUT = "are left out of all counts"
"""Marks the note on models that are not in a report, which comparisons repeat."""
MAX_NAME_CHARS = 1_000
"""Characters of the name of a model in a report, which repeats it in every check. Names of files have 255 bytes."""
MAX_INSTANCE_SPAN_NS = 2**62
"""Instances of models times the span of their rows: an instance has gaps no longer than the span, and no sum of
gaps may wrap around in 64 bits. In ten hours that is 128,000 instances."""

_STAGE = "The app does not load or call what is shown: a stage is evaluated with its pipeline."
_ASK = "'tracekit analyze --no-redact' names those of other processes"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the time of a recording, as a user describes it."""

    start_ns: int | None = None
    """None: from the beginning."""
    end_ns: int | None = None
    """None: to the end."""
    signpost: str | None = None
    """Name of intervals of the app; None: all of the time."""

    @property
    def words(self) -> tuple[str, str]:
        """Where it is, behind `starting`, and its name."""
        where = [] if self.signpost is None else [f"within signpost {self.signpost}"]
        where += [] if self.start_ns is None else [f"from {self.start_ns / 1e9:g} s"]
        if self.end_ns is not None:
            where.append(f"{'before' if self.start_ns is None else 'to'} {self.end_ns / 1e9:g} s")
        return " ".join(where), "this range" if self.signpost is None else "these intervals"


def choose_shown(
    trace: Trace,
    *,
    models: Sequence[str] = (),
    process: str | int | None = None,
    part: Part | None = None,
    redact: bool = True,
) -> filters.Shown | None:
    """What is shown of some models (shell patterns of base names), of one process (name or pid) and of a part of the
    time; None: everything. Of more models than a report holds it is those in which most time was spent.

    Raises `UsageError` where a pattern matches no model, where nothing in the recording names the process, and where
    the app has no such signpost; `redact` keeps names of others out of its text. O(rows) per frame.
    """
    if not models and process is None and part is None:
        return within_limits(trace, None)
    shown = filters.everything(trace)
    if part is not None:
        shown = filters.only_ranges(shown, trace, ranges_of(trace, part), *part.words)
        shown = replace(shown, operation=part.signpost)
    if process is not None:
        if not any(str(process) in filters.spellings(*pair) for pair in filters.process_names(trace)):
            raise unknown_process(trace, str(process), redact=redact)
        shown = filters.only_process(shown, trace, process)
    if models:
        shown = filters.only_models(shown, trace, chosen_models(trace, models, redact=redact))
    return within_limits(trace, shown)


def chosen_models(trace: Trace, patterns: Iterable[str], *, redact: bool) -> set[str]:
    """Models that match any of some shell patterns. Raises the `UsageError` of `unknown_model` for one without."""
    return matching_any(filters.model_names(trace), patterns, partial(unknown_model, trace, redact=redact))


def matching_any(names: Iterable[str], patterns: Iterable[str], error: Callable[[str], UsageError]) -> set[str]:
    """The names that match any of some shell patterns. Raises the `error` of one that matches none."""
    every, wanted = frozenset(names), set[str]()
    for pattern in patterns:
        matches = filters.matching(every, pattern)
        if not matches:
            raise error(pattern)
        wanted |= matches
    return wanted


def within_limits(trace: Trace, shown: filters.Shown | None) -> filters.Shown | None:
    """What is shown of the models with most time, as many as a report holds; a note counts the others. O(rows)."""
    if len(trace.models) <= MAX_MODELS:
        return shown
    shown = filters.everything(trace) if shown is None else shown
    names = filters.shown_model_names(trace, shown)
    if len(names) <= MAX_MODELS:
        return shown
    calls, of_call = trace.activity, trace.activity.model.codes
    seen = shown.rows["activity"] & (of_call >= 0)
    sums = np.zeros(len(calls.model.values), np.int64)
    np.add.at(sums, of_call[seen], calls.duration_ns[seen])
    times = dict(zip(calls.model.values, sums.tolist(), strict=True))
    others = frozenset(sorted(names, key=lambda name: (-times.get(name, 0), name))[MAX_MODELS:])
    hidden = calls.where(shown.rows["activity"] & calls.model.passing(others.__contains__))
    predictions, loads = (int(hidden.kind.is_any(*kinds).sum()) for kinds in ((Kind.PREDICTION,), LOAD_KINDS))
    note = (
        f"{len(names):,} models: shown are the {MAX_MODELS:,} with most time; {len(others):,} with "
        f"{format_count(predictions, 'prediction')} and {format_count(loads, 'load')} "
        f"({format_time(int(hidden.duration_ns.sum()))}) {LEFT_OUT}. Checks ran on all; others: --model NAME."
    )
    rows = {name: mask & ~trace.events[name].model.passing(others.__contains__) for name, mask in shown.rows.items()}
    return replace(shown, rows=rows, models=names - others, notes=(*shown.notes, note))


def check_limits(trace: Trace) -> None:
    """Raise `UnreadableRecording` where a report would be too large, or its sums would wrap around."""
    models = trace.models
    if not len(models):
        return
    if max(map(len, models.name)) > MAX_NAME_CHARS:
        raise UnreadableRecording(
            f"the recording has a model name of more than {MAX_NAME_CHARS:,} characters, longer than any file name; "
            "record the app again"
        )
    instances = int(np.maximum(models.instances.filled(), 1).sum())
    span_ns = int(models.last_ns.max()) - int(models.first_ns.min())
    if instances * span_ns > MAX_INSTANCE_SPAN_NS:
        raise UnreadableRecording(
            f"the recording has too many model instances ({instances:,}) over too long a time for 64-bit sums; record "
            "the app again, for a shorter time"
        )


def ranges_of(trace: Trace, part: Part) -> Intervals:
    """The ranges of time of a part, sorted and disjoint. Raises `UsageError` for a range outside the recording, and for
    a signpost that the app does not have; those of other processes do not count where the recording has a target."""
    low = part.start_ns or 0
    high = np.iinfo(np.int64).max if part.end_ns is None else part.end_ns
    length_ns = trace.run.duration_ns
    if high <= 0 or (length_ns is not None and low >= length_ns):
        length = "" if length_ns is None else f", which is {length_ns / 1e9:.1f} s long"
        raise UsageError(f"the range {part.words[0]} lies outside the recording{length}")
    if part.signpost is None:
        return Intervals(np.array([low]), np.array([high]))
    signposts, target = trace.table(Signposts), trace.run.target.process
    if signposts is None or not len(signposts):
        raise UsageError("the recording has no signpost intervals; record with --instrument os_signpost")
    if target is not None:
        signposts = signposts.where(signposts.pid.filled() == target.pid)
    rows = signposts.where(signposts.name.is_any(part.signpost))
    if not len(rows):
        # Without a target, other processes may have logged them.
        names = sorted(signposts.name.held()) if target is not None else []
        raise unknown("signpost", visible(part.signpost), map(visible, names))
    return Intervals.from_rows(rows).clipped(low, high).union()


def unknown_model(trace: Trace, wanted: str, *, redact: bool) -> UsageError:
    """Error for a pattern that no model matches. `redact` leaves out models that only other processes ran."""
    names = filters.model_names(trace)
    offered = sorted(set(names) - set(private_facts(trace).foreign_models)) if redact else names
    return _error("model", wanted, offered, hidden=len(names) - len(offered))


def unknown_process(trace: Trace, wanted: str, *, redact: bool) -> UsageError:
    """Error for a process that nothing in the recording names. `redact` offers the pids of all but the target."""
    pairs = filters.process_names(trace)
    target = trace.run.target.process
    if not redact:
        return _error("process", wanted, sorted({name for name, _ in pairs}), hidden=0)
    own = [] if target is None else [target.name]
    others = [pid for name, pid in pairs if name not in own]
    return _error("process", wanted, [*own, *(str(pid) for pid in others if pid is not None)], hidden=len(others))


def plain(text: str) -> str:
    """Words of a file of settings, without what is private by its form and what could steer a terminal."""
    return visible(redact_text(text, PrivateFacts((), (), None), ()))


def _error(what: str, wanted: str, names: Iterable[str], *, hidden: int) -> UsageError:
    error = unknown(what, visible(wanted), map(visible, names))
    return UsageError(f"{error}; {_ASK}") if hidden else error


def shown_judgments(judgments: Iterable[Judgment], trace: Trace, shown: filters.Shown | None) -> tuple[Judgment, ...]:
    """The answers that are about what is shown, at least one of each detector, in order. Where nothing is shown of what
    was chosen, nothing passes. O(judgments + evidence + rows)."""
    if shown is None:
        return tuple(judgments)
    present, nothing = filters.shown_model_names(trace, shown), why_nothing(trace, shown)
    kept_judgments: list[Judgment] = []
    for group in grouped((judgment.detector.id, judgment) for judgment in judgments).values():
        detector = group[0].detector
        kept = [_judgment_of_shown(entry, shown, present) for entry in group if _is_shown(entry, shown, present)]
        if nothing and not _is_of_recording(detector):
            findings = [entry for entry in kept if isinstance(entry.outcome, Finding)]
            kept = findings or [Judgment(detector, NotEvaluated(None, nothing, ""))]
        kept_judgments += kept or [Judgment(detector, _nothing_shown_outcome(shown))]
    return tuple(kept_judgments)


def why_nothing(trace: Trace, shown: filters.Shown) -> str:
    """Why nothing that the app ran is among what is shown, in a sentence that says when it ran; empty where something
    is, and where the recording shows neither calls nor requests of any. O(rows)."""
    if shown.foreign:
        return ""
    calls, asked = trace.activity, trace.requests
    ran, requested = calls.level.is_any(Level.TOP), of_target(asked.pid, trace.run.target.process)
    if shown.models is not None:
        ran, requested = ran & calls.model.is_any(*shown.models), np.zeros_like(requested)
    if (ran & shown.rows["activity"]).any() or (requested & shown.context.get(REQUESTS, False)).any():
        return ""
    starts = np.concatenate([calls.start_ns[ran], asked.start_ns[requested]])
    if not len(starts):
        return _STAGE if shown.models is not None else ""
    ends = np.concatenate([starts, calls.ends_ns[ran], asked.last_ns[requested]])
    what = "load, prediction or request" if requested.any() else "load or prediction"
    whose = f" of {format_names(sorted(shown.models))}" if shown.models is not None else ""
    first, last = moment(int(starts.min())), moment(int(ends.max()))
    return f"No {what}{whose} starts {shown.where}: the first starts at {first}, the last ends at {last}."


def asks_alone(trace: Trace) -> bool:
    """Whether the app asked language models and nothing shows that it called Core ML too. O(rows)."""
    named = trace.hardware.model.known & ~trace.hardware.attribution.is_any(Attribution.FOREIGN)
    lost = trace.coverage_of(CORE_ML).state is TableState.UNREADABLE
    return _asks(trace) and not len(trace.activity) and not named.any() and not lost


def _asks(trace: Trace) -> bool:
    return bool(of_target(trace.requests.pid, trace.run.target.process).any())


def without_the_other_kind(judgments: Iterable[Judgment], trace: Trace) -> list[Judgment]:
    """The answers but for those that say no more than that of Core ML and language models the app uses the other: what
    was recorded for it and shows nothing stays. O(judgments + rows)."""
    alone = asks_alone(trace)
    of_core_ml = not _asks(trace) and not ((not len(trace.activity)) and trace.coverage_of(FOUNDATION_MODELS).recorded)

    def is_other(judgment: Judgment) -> bool:
        detector, outcome = judgment.detector, judgment.outcome
        if FOUNDATION_MODELS in detector.uses:
            return of_core_ml and isinstance(outcome, NotApplicable)
        # What rests on no instrument is about the recording itself.
        silent = isinstance(outcome, NotApplicable | NotEvaluated)
        return alone and silent and bool(detector.needs or detector.uses)

    return [judgment for judgment in judgments if not is_other(judgment)]


def _is_shown(judgment: Judgment, shown: filters.Shown, present: frozenset[str]) -> bool:
    """Whether an answer is about a model that is shown, or about the recording."""
    if shown.foreign and not _is_of_recording(judgment.detector):
        return False
    model = judgment.outcome.model
    return model is None or (model in present and (shown.models is None or model in shown.models))


def _is_of_recording(detector: ListedDetector) -> bool:
    """Whether it finds fault with the recording, which limits every answer."""
    return detector.page.pattern == Pattern.RECORDING and not isinstance(detector, Detector)


def _judgment_of_shown(judgment: Judgment, shown: filters.Shown, present: frozenset[str]) -> Judgment:
    """The answer, or where it is a finding about something that is not shown, that it is so."""
    outcome = judgment.outcome
    if not isinstance(outcome, Finding) or _is_of_recording(judgment.detector):
        return judgment
    about = outcome.models
    if shown.models is not None and outcome.model is None and about is not None and about.isdisjoint(present):
        reason = "The finding is about models that are not shown."
    elif shown.ranges is not None and not _reaches(outcome, shown.ranges):
        reason = "The finding is outside the range."
    else:
        return judgment
    return Judgment(judgment.detector, NotApplicable(outcome.model, reason))


def _reaches(finding: Finding, ranges: Intervals) -> bool:
    """Whether lost time or evidence lies in the ranges; also without times, and for a selection. O(intervals)."""
    starts = np.array([*finding.affected.starts, *(entry.start_ns for entry in finding.evidence)], np.int64)
    ends = np.array([*finding.affected.ends, *(entry.end_ns for entry in finding.evidence)], np.int64)
    if not len(starts) or bool(filters.reach_ranges(ranges, starts, np.maximum(ends, starts + 1)).any()):
        return True
    return not len(finding.affected.starts) and finding.evidence_total > len(finding.evidence)


def _nothing_shown_outcome(shown: filters.Shown) -> Outcome:
    """The answer of a detector that looked at none of what is shown."""
    if shown.foreign:
        return NotEvaluated(
            None,
            "Core ML rows belong to the target, so nothing is known about the models of this process.",
            "Record this process as the target.",
        )
    if shown.ranges is not None:
        return NotApplicable(None, "No events of the selected models in this range.")
    return NotApplicable(None, _STAGE)
