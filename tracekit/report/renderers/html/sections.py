"""The sections of the page below the findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.quantities import MODEL, mean_id
from tracekit.report import formatting
from tracekit.report.columns import is_inferred
from tracekit.report.model_file_words import TITLE as TITLE_OF_FILES
from tracekit.report.model_file_words import file_rows
from tracekit.report.over_time import TITLE as OVER_TIME
from tracekit.report.renderers.concise_models import pace
from tracekit.report.renderers.html.markup import Html, code, details, joined, listed, tag
from tracekit.report.renderers.html.pictures import (
    Calls,
    distribution,
    legend_of_calls,
    over_time,
    parts_bar,
    parts_legend,
)
from tracekit.report.renderers.html.prose import sentence
from tracekit.report.renderers.html.tables import (
    Cell,
    coverage_table,
    events_table,
    loads_table,
    over_time_table,
    table,
)
from tracekit.report.time_breakdown import (
    SHOWN,
    Slice,
    each_first,
    parts_notes,
    parts_row,
    parts_rows,
    shown_groups,
)
from tracekit.report.time_breakdown import TITLE as WHERE_TIME_GOES
from tracekit.report.timeline import CALL, COLD
from tracekit.units import format_count, format_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tracekit.analysis.models import ModelSummary
    from tracekit.report.report import RecordingInfo, Report
    from tracekit.report.timeline import Timeline

LATENCIES_SHOWN = 24
"""Models whose latencies are drawn, those with most time in predictions; the tables hold all."""
LATENCIES_OPEN = 3
"""Those that are not folded."""


def models_section(report: Report) -> Html | None:
    """Median and p95 of each model, and where the time of its predictions goes; then all numbers, folded."""
    models = [model for model in report.models if model.level == "top" and model.prediction is not None]
    loads = loads_table(report.models)
    if not models and loads is None:
        return None
    broken_down = parts_rows(report.models)
    titles = ["model", "predictions", *(MODEL[name].title for name in SHOWN), "fps", "where the time goes"]
    rows = [_model(model) for model in models]
    grid = table(titles, rows, name="Models", filtered=len(models) > 10, stacked=True) if rows else None
    notes = listed((*parts_notes(broken_down),), class_="notes")
    all_first = [tag("p", words, class_="dim") for words in each_first(models)]
    inferred = any(is_inferred(model) for model in models)
    bound = "Lower bounds, inferred from the hardware: Core ML's and the CPU's share is not visible."
    alone = tag("p", pace(models[0]), class_="dim") if len(models) == 1 else None
    return tag(
        "section",
        tag("h2", "Models"),
        grid,
        parts_legend(shown_groups(broken_down)) if broken_down else None,
        alone,
        *all_first,
        tag("p", bound, class_="dim") if inferred else None,
        details(f"{WHERE_TIME_GOES}, in numbers", _parts_table(report), notes),
        details("Loads and predictions", loads),
        details(OVER_TIME, over_time_table(report.models)),
        id="models",
    )


def model_files_section(report: Report) -> Html | None:
    """What the files of the models say of them."""
    cards = [
        joined(
            [
                tag("h3", code(row.model), " ", tag("small", row.facts)),
                *(tag("p", sentence(words)) for words in row.sentences),
                tag("dl", *(joined([tag("dt", name), tag("dd", value)]) for name, value in row.card))
                if row.card
                else None,
            ]
        )
        for row in file_rows(report)
    ]
    return tag("section", tag("h2", TITLE_OF_FILES), *cards, id="files") if cards else None


def _model(model: ModelSummary) -> list[Cell]:
    breakdown = model.breakdown
    bar: str = formatting.ABSENT
    if breakdown is not None and breakdown.total_ns:
        row = parts_row(model.name, breakdown)
        bar = joined([parts_bar(row.slices, row.headline), tag("small", row.headline)])
    times = {name: model.quantities.get(name) for name in SHOWN}
    rate = model.quantities.get("fps")
    return [
        Cell(code(model.name)),
        Cell(formatting.count(model.predictions), model.predictions, "predictions"),
        *(Cell(formatting.duration(value), value, name) for name, value in times.items()),
        Cell(formatting.frames(rate), rate, "fps"),
        Cell(bar),
    ]


def _parts_table(report: Report) -> Html | None:
    """Time and share of every part, per model."""
    rows = parts_rows(report.models)
    if not rows:
        return None
    groups = shown_groups(rows)
    lines = []
    for row in rows:
        took = {part.group: part for part in row.slices}
        cells = [_part(took.get(group)) for group in groups]
        lines.append([Cell(code(row.name)), Cell(format_time(row.mean_ns), row.mean_ns, mean_id("")), *cells])
    return table(["model", "mean of all", *(group.name for group in groups)], lines, name=WHERE_TIME_GOES)


def _part(part: Slice | None) -> Cell:
    return Cell(formatting.ABSENT) if part is None else Cell(part.words, part.mean_ns, part.quantity)


def latency_section(report: Report, timeline: Timeline | None) -> Html | None:
    """How long the predictions of each model took, and when."""
    if timeline is None:
        return None
    calls = sorted(_calls(timeline), key=lambda each: -int(each.durations.sum()))
    if not calls:
        return None
    known = {model.name: model for model in report.models}
    entries = [_latency(each, known.get(each.model), timeline) for each in calls[:LATENCIES_SHOWN]]
    folded, rest = entries[LATENCIES_OPEN:], len(calls) - LATENCIES_SHOWN
    return tag(
        "section",
        tag("h2", "Latency"),
        legend_of_calls(cold=any(each.cold.any() for each in calls)),
        *entries[:LATENCIES_OPEN],
        details(format_count(len(folded), "more model"), *folded),
        tag("p", f"{format_count(rest, 'more model')} in the tables above", class_="dim") if rest > 0 else None,
        id="latency",
    )


def _latency(calls: Calls, model: ModelSummary | None, timeline: Timeline) -> Html:
    words = [format_count(len(calls.durations), "prediction")]
    for name in SHOWN:
        value = model.quantities.get(name) if model is not None else None
        words += [f"{MODEL[name].title} {format_time(value)}"] if value is not None else []
    words.append(f"longest {format_time(int(calls.durations.max()))}")
    charts = tag("div", distribution(calls), over_time(calls, timeline.start_ns, timeline.end_ns), class_="charts")
    return joined([tag("h3", code(calls.model), " ", tag("small", " · ".join(words))), charts])


def _calls(timeline: Timeline) -> Iterator[Calls]:
    """Predictions of the lanes with a known duration, by model."""
    for lane in timeline.lanes:
        called = np.flatnonzero(lane.flags & CALL)
        codes = lane.models[called]
        for model in np.unique(codes[codes >= 0]).tolist():
            rows = called[codes == model]
            durations = lane.ends[rows] - lane.starts[rows]
            if durations.max() > 0:
                yield Calls(timeline.texts[model], lane.starts[rows], durations, (lane.flags[rows] & COLD) > 0)


def events_section(report: Report) -> Html | None:
    """Statistics by model and event."""
    grid = events_table(report.aggregation)
    return tag("section", tag("h2", "Events"), grid, id="events") if grid else None


def coverage_section(report: Report) -> Html | None:
    """What was recorded and what was not."""
    grid = coverage_table(report.coverage)
    return tag("section", tag("h2", "Coverage"), grid, id="coverage") if grid else None


def recording_section(report: Report) -> Html:
    """Facts about the recording, and what was noted while it was read."""
    recording = report.recording
    facts = [(name, value) for name, value in _facts(recording).items() if value]
    notes = listed((joined(["Note: ", sentence(note)]) for note in recording.notes), class_="notes")
    privacy = (
        "Names of devices, users and other processes are redacted."
        if recording.redacted
        else ("This file was written with --no-redact: it may name devices, users and other processes.")
    )
    return tag(
        "section",
        tag("h2", "Recording"),
        tag("dl", *(joined([tag("dt", name), tag("dd", value)]) for name, value in facts)),
        notes,
        tag("p", privacy, class_="dim"),
        id="recording",
    )


def _facts(recording: RecordingInfo) -> dict[str, str]:
    runs = f"{recording.run} of {len(recording.runs)}" if len(recording.runs) > 1 else str(recording.run)
    pid = formatting.pid_suffix(recording)
    kind = f", {recording.target_kind.replace('-', ' ')}" if recording.target_kind else ""
    system = " ".join(filter(None, (recording.platform, recording.os_version)))
    return {
        "Recording": joined([code(recording.source), f" ({recording.input_type})"]),
        "Run": runs,
        "Target": joined([code(recording.target), pid, kind]) if recording.target else kind.removeprefix(", "),
        "Arguments": code(recording.arguments) if recording.arguments else "",
        "Device": ", ".join(filter(None, (recording.device_name, recording.device_model, system))),
        "Template": recording.template or "",
        "Instruments": recording.instruments_version or "",
        "Imported from": code(recording.imported_from) if recording.imported_from else "",
        "Started": formatting.started_at(recording.start_date or ""),
        "Duration": format_time(recording.duration_ns) if recording.duration_ns is not None else "",
        "End reason": formatting.ended(recording.end_reason or ""),
    }
