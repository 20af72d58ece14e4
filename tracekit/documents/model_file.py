"""What `tracekit inspect` says of a model file: what keeps it from loading or slows it down, then its facts; and what
`tracekit fix` says: what can be fixed in it, or what was, and how to check it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tracekit.documents import columns
from tracekit.documents.checks import not_evaluated_section, others_section
from tracekit.documents.pictures import drawing, legend
from tracekit.grouping import grouped
from tracekit.model_files.fixing.remedies import ADVICE
from tracekit.render import blocks
from tracekit.render.blocks import Column, Line, Paragraph, Role, Section, Span, items, present, section, table
from tracekit.render.markup import tag
from tracekit.report import model_words as words
from tracekit.report.formatting import command, explain_commands, fix_line, lower_first, word_list
from tracekit.report.groups import Remedy, checks_in_words, count_checks, with_outcome
from tracekit.report.model_report import format_counts
from tracekit.units import format_bytes, format_count

if TYPE_CHECKING:
    from tracekit.model_files.facts import Feature
    from tracekit.model_files.weights import Saving
    from tracekit.report.model_fix import ModelFix
    from tracekit.report.model_report import (
        EngineInfo,
        EngineObstacle,
        FunctionInfo,
        ModelInfo,
        ModelReport,
        WeightGroup,
    )
    from tracekit.report.report import Result
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracekit.report.model_report import ComparedModels, ModelChange, ModelReport

FEATURES, FUNCTIONS, STAGES, STORED, OPERATIONS = 8, 4, 6, 3, 6
PLACED = 200
"""Operations that the long text lists; the JSON has all."""
INTERFACE: tuple[Column[tuple[str, Feature]], ...] = (
    columns.words("", lambda row: row[0]),
    columns.names("name", lambda row: row[1].name),
    columns.words("type", lambda row: words.feature_type(row[1]) + (", optional" if row[1].optional else "")),
    columns.words("shape", lambda row: words.feature_shape(row[1])),
)
GROUPS: tuple[Column[WeightGroup], ...] = (
    columns.words("stored as", words.weight_group),
    columns.numbers("tensors", lambda group: group.tensors, drop=2),
    columns.numbers("parameters", lambda group: group.parameters, drop=1),
    columns.numbers("size", lambda group: group.bytes, format_bytes),
)
SAVINGS: tuple[Column[Saving], ...] = (
    columns.words("compression", lambda entry: entry.technique),
    columns.numbers("est. savings", lambda entry: entry.saved_bytes, format_bytes),
    columns.numbers("new size", lambda entry: entry.bytes, format_bytes, drop=1),
)


def _obstacle_words(*alike: EngineObstacle) -> str:
    """`2 gather (computed index)`, `sin, on A15, M2 and older`."""
    kinds = "".join(format_counts([each.operation for each in alike if each.operation]))
    reason, chips = alike[0].limit.words, alike[0].chips
    said = f"{kinds} ({reason})" if kinds and reason else kinds or reason
    return f"{said}{f', on {chips}' if chips else ''}"


LIMITS: tuple[Column[list[EngineObstacle]], ...] = (
    columns.words("check", lambda alike: alike[0].limit.check),
    columns.words("limit", lambda alike: _obstacle_words(*alike)),
    columns.words("who says it", lambda alike: f"{alike[0].limit.says}: {alike[0].limit.source}"),
)
PLACES: tuple[Column[EngineObstacle], ...] = (
    columns.numbers("no.", lambda each: each.number),
    columns.words("operation", lambda each: each.operation),
    columns.words("limit", lambda each: each.limit.words or "missing there"),
    columns.names("name", lambda each: each.name),
)
JOINED = "functions"
SYMPTOMS = {"1": "LOADING", "2": "SPEED", "3": "MEMORY", "4": "ACCURACY", "5": "CONVERSION"}
"""What a finding is about, by the branch of the diagnostic tree. Without times, files have no severities."""


def model_file_document(report: ModelReport, commands: Mapping[str, str] | None = None) -> blocks.Document:
    """The model and the answers of its checks; `commands` change the file itself, by finding."""
    model, counts = report.model, report.summary
    refused = report.target is not None and report.target.loads is False
    tone = Role.BAD if refused or counts.errors else Role.OPEN if counts.findings else Role.GOOD
    functions = [_function(function, len(model.functions) > 1) for function in model.functions]
    hidden = functions[FUNCTIONS:]
    layers = f"custom layers: {', '.join(model.custom_layers)}" if model.custom_layers else ""
    metadata = (f"{key}: {value}" for key, value in model.metadata.entries)
    systems = ", ".join(f"{system} {first}" for system, first in model.loads_on.items()) if model.loads_on else ""
    loads_on = f"loads on: {systems}" if systems else ""
    first, *others = engine_verdicts(report)
    unanswered = grouped((check.record, check.id) for check in with_outcome(report.results, "not_evaluated"))
    remedies = [Remedy(tuple(ids), lower_first(record.rstrip("."))) for record, ids in unanswered.items()]
    return blocks.Document(
        title=model.name,
        verdict=first,
        tone=tone,
        context=(
            *map(Paragraph, others[:FUNCTIONS]),
            Paragraph(summary(report)),
            Paragraph(words.context(model), Role.DIM),
        ),
        blocks=blocks.present(
            *(_engine(each, bool(others)) for each in report.neural_engine),
            *(_finding(check, (commands or {}).get(check.id, "")) for check in with_outcome(report.results, "finding")),
            *functions[:FUNCTIONS],
            section(format_count(len(hidden), "more function"), *hidden, folded=True),
            section("Stages", items(_stages(model), STAGES)),
            section(
                "Weights",
                Paragraph(words.weight_size(model.weights)),
                table("Weights by how they are stored", GROUPS, model.weights.groups or (), brief=STORED),
                table("What compression could save", SAVINGS, model.weights.savings),
            ),
            section("More", items((layers, "can be trained further on the device" if model.updatable else ""))),
            section("Metadata", items((*metadata, loads_on)), folded=True),
            not_evaluated_section(remedies, report.results),
            *(others_section(report.results, outcome, of_file=True) for outcome in ("passed", "not_applicable")),
        ),
        more="".join(explain_commands(check.id for check in with_outcome(report.results, "finding"))),
    )


def summary(report: ModelReport) -> str:
    """Counts of the checks in one line, and whether the model loads on the system that was asked about."""
    counts, target = report.summary, report.target
    parts = [format_count(counts.findings, "finding") if counts.findings else "No findings"]
    if target is not None:
        answers = {None: "unknown whether it loads", True: "loads", False: "does not load"}
        parts.append(f"{answers[target.loads]} on {target.system}")
    return " · ".join((*parts, checks_in_words(count_checks(report.results))))


def engine_verdicts(report: ModelReport) -> list[str]:
    """Whether each function will run on the Neural Engine, a sentence each."""
    infos = report.neural_engine
    return [
        f"Will {each.function if len(infos) > 1 else 'it'} run on the Neural Engine: {each.verdict}" for each in infos
    ]


def _engine(info: EngineInfo, several: bool) -> Section | None:
    """What is behind the verdict of a function, and, in the long text, the place of each operation in the graph."""
    alike = grouped((each.limit, each) for each in info.obstacles)
    title = f"Neural Engine, {info.function}" if several else "Neural Engine"
    placed = [each for each in info.obstacles if each.number]
    beside = [f"the file alone: {info.by_file}"] if info.by_file else []
    named = f"The first {PLACED} operations" if len(placed) > PLACED else "Operations"
    places = section(f"{named} in their order", table(f"{title}, by place", PLACES, placed[:PLACED]), folded=True)
    return section(
        title,
        _pieces(info),
        table(title, LIMITS, list(alike.values()), brief=OPERATIONS),
        items((*beside, *info.differences)),
        places,
    )


def _pieces(info: EngineInfo) -> blocks.Figure | None:
    """The operations of the graph in their order: which may run on the Neural Engine, and which a limit keeps from it;
    None where the file does not say it of single ones."""
    away = sorted(each.number for each in info.obstacles if each.number)
    if not away or not info.operations or info.by_file or any(each.number is None for each in info.obstacles):
        return None
    share, words = 100 / info.operations, f"{format_count(info.pieces, 'piece')} on alternating compute units"
    marks = [tag("rect", x=0, y=0, width=100, height=10, class_="c-ane")]
    marks += [tag("rect", x=share * (at - 1), y=0, width=max(share, 0.2), height=10, class_="limited") for at in away]
    kinds = legend({"c-ane": "may run on the Neural Engine", "limited": "a limit keeps it on another unit"})
    title = tag("figcaption", f"{format_count(info.operations, 'operation')} in their order: {words}")
    bar = drawing(
        marks,
        "0 0 100 10",
        f"{format_count(len(away), 'operation')} of {info.operations:,} limited; {words}",
        class_="parts",
    )
    return blocks.Figure(tag("figure", title, bar, kinds, class_="pairs named-bars"))


def _finding(check: Result, command: str) -> blocks.Card:
    label = SYMPTOMS.get(check.pattern[:1], "MODEL")
    body = blocks.present(
        Paragraph(check.summary),
        Paragraph(fix_line(check.fix), lead="fix"),
        Paragraph(Span(command, Role.CODE), lead="or run") if command else None,
        Paragraph(ADVICE[check.id]) if command and check.id in ADVICE else None,
        section("How to fix it", Paragraph(check.why), blocks.Prose(check.fix.strip()), folded=True),
    )
    return blocks.Card(label, Role.BAD if label == "LOADING" else Role.OPEN, check.id, check.title, body)


def _function(function: FunctionInfo, several: bool) -> Section | None:
    roles = (("input", function.inputs), ("output", function.outputs), ("state", function.states))
    rows = [(role, entry) for role, entries in roles for entry in entries]
    title = f"Interface of {function.name}" if several else "Interface"
    unlisted = None if rows else Paragraph("not listed in the file", Role.DIM)
    computes: list[Paragraph] = []
    facts = (lower_first(words.computes(function).rstrip(".")), f"opset {function.opset}" if function.opset else "")
    if any(facts):
        computes.append(Paragraph("; ".join(filter(None, facts))))
    total = sum(function.operations.values())
    if total:
        computes.append(
            Paragraph(f"{format_count(total, 'operation')}: {words.histogram(function.operations, OPERATIONS)}")
        )
    if function.backends:
        computes.append(Paragraph(f"the file asks for {', '.join(function.backends)}"))
    return section(title, table(title, INTERFACE, rows, brief=FEATURES), unlisted, *computes)


def _stages(model: ModelInfo) -> Iterator[str]:
    for stage in model.stages:
        main = stage.functions[0]
        inputs, outputs = (
            ", ".join(f"{entry.name} ({words.feature_type(entry)})" for entry in entries)
            for entries in (main.inputs, main.outputs)
        )
        flow = f": {inputs} → {outputs}" if inputs or outputs else ""
        total = sum(main.operations.values())
        count = f", {format_count(total, 'operation')}" if total else ""
        yield f"{stage.name}, {stage.kind}{count}{flow}"


def offers_document(fix: ModelFix) -> blocks.Document:
    """Findings with the command that fixes each."""
    fixable = sum(bool(offer.command) for offer in fix.offers)
    findings = f"{format_count(len(fix.offers), 'finding')}, {fixable} fixable in the model file"
    cards: list[blocks.Card] = []
    for offer in fix.offers:
        how: Line = Span(offer.command, Role.CODE) if offer.command else f"in the source model: {offer.reason}"
        label = "FIXABLE" if offer.command else "NOT FIXABLE"
        advice = ADVICE.get(offer.finding) if offer.command else None
        body = present(Paragraph(offer.summary), Paragraph(how, lead="fix"), Paragraph(advice) if advice else None)
        cards.append(blocks.Card(label, Role.OPEN, offer.finding, offer.title, body))
    return blocks.Document(
        title=fix.source,
        verdict=findings if fix.offers else "No findings",
        tone=Role.OPEN if fix.offers else Role.GOOD,
        blocks=tuple(cards),
    )


def model_fix_document(fix: ModelFix, sources: Sequence[str], target: str, again: str) -> blocks.Document:
    """What was changed in `sources` and written to `target`; the command `again` fixes what is new too."""
    joined = [change.title for change in fix.changes if change.finding == JOINED]
    done = [change for change in fix.changes if change.finding != JOINED]
    fixed, partly = ([change.finding for change in done if bool(change.left) is left] for left in (False, True))
    start = f"{len(sources)} models combined into {target} as functions {joined[0]}" if joined else ""
    parts = ((fixed, "{} fixed"), (partly, "{} fixed in part"), (fix.new_findings, "new finding: {}"))
    results = [words.format(word_list(names)) for names, words in parts if names]
    named = dict.fromkeys(sources)
    changes: list[blocks.Card] = []
    for change in fix.changes:
        left = Paragraph(change.left, lead="left") if change.left else None
        label = "IN PART" if change.left else "JOINED" if change.finding == JOINED else "FIXED"
        changes.append(
            blocks.Card(label, Role.GOOD, change.finding, change.title, present(items(change.changed), left))
        )
    verify: list[Line] = [Span(command("inspect", path), Role.CODE) for path in (*named, target)]
    if fix.not_compared:
        verify.append(f"outputs not compared: {fix.not_compared}")
    for name, difference in (fix.differences or {}).items():
        verify.append(f"output `{name}`: largest difference {difference:.2g}, on random inputs")
    verify.append("compare results on inputs of the app")
    return blocks.Document(
        title=target,
        verdict=" · ".join((start, *results) if joined else (f"{target}: {results[0]}", *results[1:])),
        tone=Role.OPEN if partly or fix.new_findings else Role.GOOD,
        context=(Paragraph(f"{target}, written from {word_list(named)} (unchanged)", Role.DIM),),
        blocks=present(
            *changes,
            section("In the app", items(fix.app)),
            section("Verify", items(verify)),
            section("Next", Paragraph(Span(again, Role.CODE))) if again else None,
        ),
    )


_REASON = re.compile(r": | \(|; |, at ")
MODELS: tuple[Column[ModelReport], ...] = (
    columns.names("model", lambda report: report.model.source),
    columns.words("on the Neural Engine", lambda report: "; ".join(_short(report))),
    columns.numbers("size", lambda report: report.model.bytes, format_bytes),
    columns.words("loads on", lambda report: words.first_systems(report.model)),
    columns.words("findings", lambda report: ", ".join(report.found) or "none"),
)
CHANGES: tuple[Column[ModelChange], ...] = (
    columns.names("", lambda change: change.fact),
    columns.words("before", lambda change: change.before or "–"),
    columns.words("after", lambda change: change.after or "–"),
)


def models_document(reports: Sequence[ModelReport], failures: Sequence[str]) -> blocks.Document:
    """A row for each model, and why others could not be read."""
    likely = sum(all(each.verdict.startswith("likely") for each in report.neural_engine) for report in reports)
    found = sum(report.summary.findings for report in reports)
    return blocks.Document(
        title="Models",
        verdict=f"{format_count(len(reports), 'model')}: {likely:,} likely on the Neural Engine, in whole or in part; "
        f"{format_count(found, 'finding')}",
        tone=Role.OPEN if found or failures else Role.GOOD,
        blocks=present(table("Models", MODELS, reports), section("Not read", items(failures))),
        more="tracekit inspect MODEL",
    )


def compared_models_document(compared: ComparedModels) -> blocks.Document:
    """Facts that differ."""
    names = f"{compared.before.model.source} → {compared.after.model.source}"
    count = len(compared.changes)
    return blocks.Document(
        title=names,
        verdict=f"{names}: {format_count(count, 'fact')} changed" if count else f"{names}: no fact changed",
        tone=Role.OPEN if count else Role.GOOD,
        blocks=present(table("Changes", CHANGES, compared.changes)),
    )


def _short(report: ModelReport) -> dict[str, None]:
    """The verdicts of the functions without reasons, each once: `no`, `likely, all but 2 of 118 operations`."""
    return dict.fromkeys(_REASON.split(each.verdict)[0] for each in report.neural_engine)
