"""What a report says of the app: which lines call Core ML and what running threads were doing, how much memory it
holds, and whether models keep their speed over minutes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.code.sites import CallSite, Place
from tracekit.analysis.memory import LoadMemory, Sureness
from tracekit.characters import lower_first
from tracekit.documents import columns
from tracekit.documents.pictures import drawing, figure
from tracekit.render import blocks
from tracekit.render.blocks import Block, Column, Line, Paragraph, Role, Section, Span, items, join, section, table
from tracekit.render.markup import page_data, tag
from tracekit.report import call_sites
from tracekit.report.call_sites import CodeInfo
from tracekit.report.formatting import ABSENT, moment
from tracekit.trace.calls.stacks import Api
from tracekit.trace.events import DEVICE_NAMES, Device
from tracekit.trace.instruments.memory import ENGINE_MEMORY, Memory, counts_engine
from tracekit.units import format_bytes, format_count, format_percent, format_rate, format_share, format_time

if TYPE_CHECKING:
    from tracekit.analysis.device_states import Sustained
    from tracekit.report.flame import Flame
    from tracekit.report.report import Report
    from tracekit.report.timeline import DrawnLane, Timeline


HEAVIEST = 12
"""Functions of the app that are listed, those with most samples."""
LEAST = 5
"""Of fewer, a share says more about chance than about the app (heuristic)."""
LOADS = 3
SAMPLING = "call stacks are sampled every 1 ms; waiting threads are not sampled, and a shorter call can be missing"
STEP = "step: from one sample to the next, so whatever else the app did in that time is in it too"
NOTES = (
    "→: first to last third of the time; speed kept: share of predictions/s, 100% in an app that paces itself",
    "unit times are those in which it executed predictions: what energy follows from, not energy itself",
)
NO_RELEASE = "returned: what the footprint fell by after the last use; Core ML records no release, so – is not 0"


def code_section(info: CodeInfo | None, flame: Flame | None) -> Section | None:
    """Calls of Core ML by place and, with a flame graph, functions of the app; None without call stacks."""
    calls = _call_sites(info) if info is not None else ()
    functions: tuple[Block | None, ...] = ()
    if flame is not None:
        sampled = f"{format_count(len(flame.times), 'sample')} of running threads of the target."
        functions = app_functions(flame, sampled)
    return section("Code", *calls, *functions, folded=True, name="code")


def _call_sites(info: CodeInfo) -> tuple[Block | None, ...]:
    sampling, none = SAMPLING, "No sample is in a call of Core ML."
    if info.unit is not None:
        counted = "" if info.weight is None else f" ({info.weight:,} in all)"
        sampling = f"call stacks are sampled by {info.unit}{counted}, not by time; waiting threads are not sampled"
        none = f"Calls of Core ML are not inferred from samples by {info.unit}."
    notes = [f"{call_sites.symbols_sentence(info)}; {sampling}", *info.notes]
    if info.inferred and info.call_sites:
        notes.insert(0, "Core ML recorded no call: all of this is inferred from samples and names of functions")

    def how_often(site: CallSite) -> str:
        doubt = f"; {site.ambiguous:,} ambiguous: other threads made such calls meanwhile" if site.ambiguous else ""
        return f"{call_sites.calls_words(site)}{doubt}"

    def share(site: CallSite) -> Line:
        counted = f"{site.samples if site.calls is None else site.calls:,}"
        first = Span(moment(site.first_ns), span_ns=(site.first_ns, site.first_ns + max(site.median_ns, 1)))
        of = f"{format_percent(site.share) if site.of >= LEAST else counted} of {site.of:,}, from "
        return (of, first, f" to {moment(site.last_ns)}")

    cells: tuple[Column[CallSite] | None, ...] = (
        columns.words("call", lambda site: call_sites.LABELS[Api(site.api)]),
        columns.words("from", lambda site: _function(site, call_sites.place(site))),
        _unless_absent("called by", lambda site: join(map(_function, site.called_by), ", "), info.call_sites),
        _unless_absent("thread", lambda site: call_sites.THREADS.get(site.thread, ""), info.call_sites),
        columns.words("how often", how_often),
        columns.words("busy with", _busy),
        Column("share", share, lambda site: site.share),
    )
    grid = table("Calls of Core ML by place", filter(None, cells), info.call_sites, cards=True)
    empty = None if grid else Paragraph(none)
    return grid, empty, *(Paragraph(note, Role.DIM) for note in notes)


def _unless_absent(title: str, text: Callable[[CallSite], Line], sites: Sequence[CallSite]) -> Column[CallSite] | None:
    """A column of words; None where no site has any."""
    return columns.words(title, lambda site: text(site) or ABSENT) if any(map(text, sites)) else None


def _function(where: CallSite | Place, unknown: str = "") -> Line:
    """A function of the app and its line; `unknown` where it is not known."""
    name = Span(where.function or unknown, Role.CODE)
    return (name, f" ({line})" if (line := call_sites.line_of(where)) else "") if name.text else ""


def _busy(site: CallSite) -> str:
    """What the calls were busy with; a few samples say little about it."""
    words = call_sites.busy_words(site)
    if words and site.samples < LEAST:
        return f"too few samples ({site.samples:,})"
    return words or ("" if site.calls is None else f"unknown ({format_count(site.samples, 'sample')})") or ABSENT


def app_functions(flame: Flame, words: str) -> tuple[Block | None, ...]:
    """The functions of the app with most samples, and room for the flame graph; `words` say what was sampled."""
    from tracekit.analysis.code.tree import in_functions, without_deeper
    from tracekit.report.flame import DEEPER, MAX_LEVELS

    tree, total = flame.tree, len(flame.times)
    samples, self_samples = in_functions(tree)
    heaviest = [at for at in np.argsort(-samples, kind="stable").tolist() if tree.is_app[at] and samples[at]]
    cells: tuple[Column[int], ...] = (
        columns.names("function of the app", lambda at: tree.names[at]),
        columns.numbers("share", lambda at: samples[at] / total, format_percent),
        columns.numbers("samples", lambda at: int(samples[at])),
        columns.numbers("self", lambda at: int(self_samples[at])),
    )
    if len(without_deeper(tree, MAX_LEVELS)[0].parent) < len(tree.parent):
        words += f" {DEEPER}"
    grid = table("Functions of the app", cells, heaviest[:HEAVIEST])
    empty = None if grid else Paragraph("No function of the app is in them.")
    return Paragraph(words, Role.DIM), blocks.Figure(tag("div", id="flame")), grid, empty


def call_stacks_document(flame: Flame, source: str, words: str) -> blocks.Document:
    """The call stacks of a recording as a page. `source` is its file name; `words` say what was sampled."""
    # Reports in text, which draw nothing, do not need it.
    from tracekit.report.viewers.lane_columns import flame_payload

    data = page_data("flame", *flame_payload(flame, source))
    pictures = blocks.present(*app_functions(flame, f"{words}."), blocks.Figure("", data=data))
    context = (Paragraph("Samples measure CPU time: waiting threads are not sampled", Role.DIM),)
    return blocks.Document(f"Call stacks of {source}", "", Role.PLAIN, context, pictures)


def memory_section(report: Report, timeline: Timeline | None = None) -> Section | None:
    """How much the target held, and what each load added and returned; None where nothing was sampled."""
    if report.memory is None:
        return None
    cells: tuple[Column[LoadMemory], ...] = (
        columns.names("model", lambda load: load.model),
        columns.numbers("instance", lambda load: load.instance, drop=3),
        columns.words("loaded at", lambda load: moment(load.start_ns)),
        columns.optional("memory added", lambda load: load.step_bytes, format_bytes, float),
        columns.optional("given back", lambda load: load.returned_bytes, format_bytes, float),
        columns.words("certainty", _sure, drop=1),
    )
    loads, system = report.memory.loads, report.recording.os_version
    pictures = map(_picture, timeline.lanes if timeline is not None else ())
    levels: list[str] = []
    for level in report.memory.levels:
        is_sampled = level.kind == Memory.FOOTPRINT
        samples = format_count(level.samples, "sample" if is_sampled else "change")
        often = f", {format_time(level.every_ns)} apart" if level.every_ns and is_sampled else ""
        levels.append(
            f"{'footprint' if is_sampled else 'Metal'} {format_bytes(level.first_bytes)} → "
            f"{format_bytes(level.last_bytes)} (peak {format_bytes(level.peak_bytes)} at {moment(level.peak_ns)}; "
            f"{samples}{often})"
        )
    return section(
        "Memory",
        items(levels),
        *(picture for picture in pictures if picture is not None),
        table("Loads in memory", cells, loads, brief=LOADS),
        Paragraph(f"footprint: {lower_first(ENGINE_MEMORY[counts_engine(system)]).rstrip('.')}", Role.DIM),
        *(Paragraph(note, Role.DIM, brief=0) for note in ((STEP, NO_RELEASE) if loads else ())),
        name="memory",
    )


def _sure(load: LoadMemory) -> str:
    """What the step rests on: `clear (1.00 s apart)`."""
    if load.apart_ns is None or load.sure == Sureness.UNSAMPLED:
        return load.sure
    return f"{load.sure} ({format_time(load.apart_ns)} apart)"


def _picture(lane: DrawnLane) -> blocks.Figure | None:
    """The level over time, of a lane of memory."""
    if lane.sizes is None or len(lane.sizes) < 2:
        return None
    times, held = lane.sizes.times, lane.sizes.bytes
    start, end, top = int(times[0]), max(int(lane.ends[-1]), int(times[-1]) + 1), max(int(held.max()), 1)
    x, y = 100 * (times - start) / (end - start), 100 - 95 * held / top
    keep = np.append(True, np.diff(held) != 0)
    steps = "".join(f"H{a:.2f}V{b:.2f}" for a, b in zip(x[keep].tolist(), y[keep].tolist(), strict=True))
    line = tag("path", d=f"M0 {y[0]:.2f}{steps}H100", class_="level median")
    chart = drawing([line], "0 0 100 100", f"{lane.title} over time")
    axis = (f"{ns / 1e9:,.1f} s" for ns in (start, (start + end) // 2, end))
    return blocks.Figure(figure(lane.title, chart, (format_bytes(round(top / 0.95)), "0"), axis))


def sustained_section(models: Sequence[Sustained]) -> Section | None:
    """Whether models keep their speed over minutes, and how long each unit works per prediction."""
    cells: tuple[Column[Sustained], ...] = (
        columns.names("model", lambda row: row.model),
        columns.durations("over", lambda row: row.span_ns, drop=4),
        columns.words("predictions/s", lambda row: _pair(row, "per_second")),
        columns.words("median", lambda row: _pair(row, "p50_ns"), drop=2),
        columns.numbers("speed kept", lambda row: row.speed_kept, lambda of: format_share(of) if of else ABSENT),
        columns.words("thermal", _thermal, drop=1),
        *(_unit(device) for device in Device),
    )
    return section(
        "Over minutes",
        grid := table("Over minutes", cells, models),
        *(Paragraph(note, Role.DIM, brief=0) for note in NOTES if models),
        columns.absent_note(grid),
        name="over-minutes",
    )


def _thermal(model: Sustained) -> str:
    return " → ".join(dict.fromkeys(third.thermal or "not recorded" for third in (model.first, model.last)))


def _unit(device: Device) -> Column[Sustained]:
    return columns.durations(f"{DEVICE_NAMES[device]}/prediction", lambda row: row.units.get(str(device)), drop=3)


def _pair(model: Sustained, name: str) -> str:
    """Of the first third and of the last: `12.1 → 13.1 ms`."""
    first, last = (getattr(third, name) for third in (model.first, model.last))
    if name != "p50_ns":
        return " → ".join(ABSENT if rate is None else format_rate(rate, "") for rate in (first, last))
    one, other = (ABSENT if ns is None else format_time(ns) for ns in (first, last))
    unit = other.rpartition(" ")[2]
    return f"{one.removesuffix(f' {unit}')} → {other}"
