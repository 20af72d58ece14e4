"""`tracekit stacks PATH...`: the call tree of a recording, or of a part of it."""

from __future__ import annotations

from argparse import Namespace

import numpy as np

from tracekit.analysis.code.call_sites import of_model
from tracekit.analysis.code.sites import of_sites
from tracekit.analysis.code.tree import CallTree, Frames, call_tree
from tracekit.arrays import BoolArray
from tracekit.characters import lower_first
from tracekit.cli.forms import deliver, files_of
from tracekit.cli.options import MAIN_THREAD, refuse
from tracekit.cli.output import narrate
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import check_recordings, showing_progress, tell_unreadable, xctrace_options
from tracekit.cli.requests import part_of
from tracekit.detectors.outcomes import Finding
from tracekit.detectors.plugins import all_detectors
from tracekit.detectors.runner import run_detectors
from tracekit.documents.report_app import call_stacks_document
from tracekit.errors import UsageError, unknown
from tracekit.intervals import Intervals
from tracekit.render.blocks import Document, Role
from tracekit.report.choice import Part, chosen_models, ranges_of
from tracekit.report.flame import as_collapsed, as_speedscope, as_text, fit_to_leave, flame_in
from tracekit.trace.build import open_trace
from tracekit.trace.coverage import tables_of
from tracekit.trace.filter import reach_ranges
from tracekit.trace.instruments.catalogue import CALL_STACKS
from tracekit.trace.samples import Samples
from tracekit.trace.trace import Trace


def run(arguments: Namespace) -> ExitStatus:
    """Print or write the call tree."""
    files = files_of(arguments, arguments.path)
    part = part_of(arguments)
    check_recordings(arguments.path)
    with showing_progress(arguments.quiet) as progress:
        options = xctrace_options(arguments)
        trace = open_trace(
            arguments.path, run=arguments.run, reader=arguments.reader, xctrace=options, progress=progress
        )
        sampled = trace.profiled
    if sampled is None:
        entry = trace.coverage_of(CALL_STACKS)
        raise UsageError("; ".join(filter(None, (entry.conclusion.rstrip("."), lower_first(entry.advice.rstrip("."))))))
    if sampled.unit is not None:
        refuse(
            arguments,
            "model finding",
            f"needs call stacks that were sampled by time, and these were by {sampled.unit}; record with --instrument "
            "'Time Profiler'",
        )
    for note in () if arguments.quiet else sampled.notes:
        narrate(f"tracekit: {note}.")
    mask = _mask_of_choice(trace, sampled, arguments, part)

    def tree(frames: str = Frames.ALL) -> CallTree:
        drawn = call_tree(sampled, mask, Frames(arguments.functions or frames), invert=arguments.invert)
        return fit_to_leave(drawn, trace, sampled, redact=arguments.redact)

    def text() -> str:
        folded = tree(Frames.FOLDED)
        return as_text(folded, _title(sampled, folded, mask))

    def document(form: str) -> Document:
        folded = tree(Frames.FOLDED)
        title = _title(sampled, folded, mask)
        if form == "html":
            return call_stacks_document(flame_in(sampled, mask, folded), trace.contents.source, title)
        return Document("", title, Role.PLAIN)

    data = {
        "text": text,
        "collapsed": lambda: as_collapsed(tree()),
        "speedscope": lambda: as_speedscope(tree(), trace.contents.source),
    }
    deliver(arguments, files, document, data, whole=not files)
    return tell_unreadable(trace.contents.source, tables_of(trace))


def _title(sampled: Samples, tree: CallTree, chosen: BoolArray) -> str:
    stack = sampled.samples.stack
    stacks = stack.values[chosen & stack.known]
    in_tree, of_all = int((tree.leaf[stacks] >= 0).sum()), int(chosen.sum())
    title = f"{in_tree:,} samples of running threads"
    if sampled.weights is not None:
        title += f", {tree.total:,} {sampled.unit}: numbers and shares are of these, not of time"
    elif sampled.unit is not None:
        title += f", taken by {sampled.unit}, not by time"
    return f"{title}; {of_all - in_tree:,} more without a call stack to show" if of_all > in_tree else title


def _mask_of_choice(trace: Trace, sampled: Samples, arguments: Namespace, part: Part | None) -> BoolArray:
    """Samples that the arguments choose: shape (samples,)."""
    samples = sampled.samples
    mask = np.ones(len(samples), np.bool_)
    if part is not None:
        times = samples.time_ns
        ranges = ranges_of(trace, part)
        mask &= reach_ranges(ranges, times, times + 1)
    if arguments.thread == MAIN_THREAD:
        mask &= samples.main_thread.values
    elif arguments.thread is not None:
        wanted = arguments.thread.lower()
        named = samples.thread.passing(lambda name: wanted in name.lower())
        named |= samples.tid.known & (samples.tid.values.astype(str) == arguments.thread)
        if not named.any():
            tids = dict.fromkeys(samples.tid.values[samples.tid.known].tolist())
            threads = map(str, tids) if arguments.redact else samples.thread.held()
            raise unknown("thread", arguments.thread, (MAIN_THREAD, *threads))
        mask &= named
    if arguments.models:
        names = chosen_models(trace, arguments.models, redact=arguments.redact)
        mask &= np.logical_or.reduce([of_model(trace, name) for name in sorted(names)])
    if arguments.finding is not None:
        judgments = run_detectors(trace, only=[arguments.finding], detectors=all_detectors())
        findings = [judgment.outcome for judgment in judgments if isinstance(judgment.outcome, Finding)]
        if not findings:
            raise UsageError(f"{arguments.finding} has no finding in this recording; see `tracekit analyze -v`")
        behind = np.zeros(0 if trace.samples is None else len(trace.samples), np.bool_)
        for finding in findings:
            evidence = finding.affected
            if not len(evidence) and not finding.call_sites:
                spans = [(entry.start_ns, entry.end_ns) for entry in finding.evidence]
                evidence = Intervals(*np.array(spans, np.int64).reshape(-1, 2).T).union()
            behind |= of_sites(trace, finding.call_sites, evidence)
        mask &= behind
    return mask
