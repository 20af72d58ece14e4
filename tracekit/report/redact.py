"""Takes out of a report what identifies people, machines and other software. On by default.

| what                                   | becomes                                                          |
|----------------------------------------|------------------------------------------------------------------|
| environment, device and host ids       | never in a report                                                |
| device name, arguments of the target   | None in their fields, `<private>` where a text quotes them       |
| user in `/Users/x`, `/home/x`, `C:\\Users\\x`; volume names; `/var/folders` | `…`                            |
| path of a source file                  | its last part, also without redaction                            |
| UUID, device id, 40-digit hash         | `<uuid>`                                                         |
| e-mail address; `x.local`              | `<e-mail>`; `<host>`                                             |
| name of any process but the target     | `process A`, `process B`, ... the same throughout the report     |
| model that only other processes ran    | `foreign model A`, ... the same throughout the report            |
| label that another process gave its GPU work | `GPU work`, unless it is one that Metal gives or names a model |

Names of the target's models stay: a report without them is of no use. So do those of its functions, which
`private_text.without_functions` takes out where that is asked for. The name of the target stays, and so do process
ids, which mean nothing elsewhere. Other processes are replaced, those of the system too, since a list of known ones
would never be complete; only a name that is also a word of the report itself (`OWN_WORDS`) stays where no process id
follows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeVar

from tracekit.characters import map_strings
from tracekit.report.private_text import (
    PRIVATE,
    QUOTED_PROCESS,
    TextRedactor,
    alias_foreign_models,
    alias_names,
    process_name,
    processes_in,
    standing_alone,
)

if TYPE_CHECKING:
    from tracekit.report.report import RecordingInfo, Report, TableInfo
    from tracekit.trace.trace import Trace

Value = TypeVar("Value")

NEVER_INCLUDED = ("device name", "device and host ids", "environment", "arguments of the target")
"""What no redacted report holds, in words."""

KEPT_FIELDS = frozenset({"model", "models", "name", "parents", "url", "version"})
"""Fields that stay as they are: model names (`name` is one in `ModelSummary`, a fixed word elsewhere) and addresses."""

_FIXED_FIELDS = """
id title finding_title outcome severity pattern relation state lane match kind level unit part
unknown direction input_type instrument api form function file what thread table tables schema why
fix own_fix target target_kind
"""
FIXED_FIELDS = frozenset(_FIXED_FIELDS.split())
"""Fields with words of tracekit, of Instruments or of the target: a process that happens to have the same name, as
`top` has, must not change them. Paths and ids are replaced in them too."""

PRIVATE_ATTRIBUTES = re.compile(r"uuid|udid|serial|argument|environment|device-?name|host-?name|user", re.IGNORECASE)
"""Attributes of tables whose value is private whatever it looks like."""

_DEVICES = (
    "iphone; ipad; ipod; mac; macbook; macbook pro; macbook air; imac; mac mini; mac studio; "
    "mac pro; apple tv; apple watch; apple vision pro; simulator"
)
GENERIC_DEVICES = frozenset(_DEVICES.split("; "))
"""Device names that are product names: replacing them would damage sentences and protect nobody."""

_STAND_INS = {
    "device names, ids and arguments quoted in texts": PRIVATE,
    "users in paths": r"Users(?:/|\\+)…",
    "temporary folders": "/var/folders/…",
    "volumes in paths": "/Volumes/…",
    "e-mail addresses": "<e-mail>",
    "host names": "<host>",
    "ids": "<uuid>",
}
"""Patterns of the replacements, by what they are called."""

_METAL_LABEL = re.compile(r"(?:GPU Execution|(?:Command Buffer|[A-Z][a-z]+ Command) \d+|Compile \w+ shader|[:\s])*")
"""Labels of work to which the app gave none."""
_COMMITTED = re.compile(r'(Committed ")(.*)(" with \d+ encoders?)')
"""Note of a command buffer, which quotes its label and no process."""


@dataclass(frozen=True, slots=True)
class PrivateFacts:
    """What a recording contains of other people's things, to be looked for in every text."""

    quotes: tuple[str, ...]
    """Texts that are private wherever they appear: device names and ids, arguments."""
    processes: tuple[str, ...]
    """Names of all processes in the recording."""
    target: str | None
    """Name of the process that stays."""
    foreign_models: tuple[str, ...] = ()
    """Models that only other processes ran: they show what else is on the machine."""
    models: tuple[str, ...] = ()
    """Other models: their names stay, also where a report shows a part of them."""


def private_facts(trace: Trace) -> PrivateFacts:
    """Private facts of a run, from its description and from all its frames."""
    # What only cleans texts needs no frames.
    from tracekit.rows import held_texts
    from tracekit.trace.events import Attribution
    from tracekit.trace.filter import model_names

    run = trace.run
    devices = [device for device in (run.device, run.host) if device is not None]
    quotes = [run.target.arguments, *(text for device in devices for text in (device.name, device.uuid))]
    public = {(device.model or "").casefold() for device in devices} | GENERIC_DEVICES
    lanes, context = trace.events.values(), [rows.columns() for rows in trace.context.values() if len(rows)]
    # The target did not use them.
    of_others = trace.hardware.attribution.is_any(Attribution.FOREIGN)
    models = set(trace.hardware.model.take(of_others).held()) - set(trace.models.name)
    foreign = tuple(sorted(text for text in models if text.strip()))
    named = [row[column] for row in context for column in ("process", "process_name") if column in row]
    names = {text for text in held_texts([*(rows.process for rows in lanes), *named]) if text.strip()}
    # Some processes are named in labels alone.
    labels = (row["label"] for row in context if "label" in row)
    names |= processes_in(chain.from_iterable(texts.held() for texts in (*(rows.label for rows in lanes), *labels)))
    return PrivateFacts(
        quotes=tuple(dict.fromkeys(q for q in quotes if q and len(q) >= 3 and q.casefold() not in public)),
        processes=tuple(sorted(names)),
        target=run.target.process.name if run.target.process else None,
        foreign_models=foreign,
        models=tuple(sorted(set(model_names(trace)) - set(foreign))),
    )


def both_private(first: PrivateFacts, second: PrivateFacts) -> PrivateFacts:
    """What is private of either of two recordings, for a text about both. The targets of both stay."""
    targets = {first.target, second.target}
    return PrivateFacts(
        quotes=tuple(dict.fromkeys((*first.quotes, *second.quotes))),
        processes=tuple(sorted({*first.processes, *second.processes} - targets)),
        target=first.target,
        foreign_models=tuple(sorted({*first.foreign_models, *second.foreign_models})),
        models=tuple(sorted({*first.models, *second.models})),
    )


def redact(report: Report, facts: PrivateFacts) -> Report:
    """The report without what identifies people, machines and other software. O(size of the report)."""
    models = {entry.name for entry in report.models} | {row.model for row in report.aggregation if row.model}
    change = _changes(facts, models, _naming_texts(report))
    recording, tables = _without_private_fields(report.recording, report.tables)
    return map_strings(replace(report, recording=recording, tables=tables), change)


def redact_parts(
    recording: RecordingInfo, tables: Sequence[TableInfo], others: Value, facts: PrivateFacts
) -> tuple[RecordingInfo, tuple[TableInfo, ...], Value]:
    """Parts of a report, and others with its fields, as `redact` changes them. O(size)."""
    return redact_values((*_without_private_fields(recording, tables), others), facts)


def _without_private_fields(
    recording: RecordingInfo, tables: Iterable[TableInfo]
) -> tuple[RecordingInfo, tuple[TableInfo, ...]]:
    return (
        replace(recording, device_name=None, arguments=None, redacted=True),
        tuple(replace(table, attributes=public_attributes(table.attributes)) for table in tables),
    )


def redact_values(value: Value, facts: PrivateFacts) -> Value:
    """The strings of another object with the fields of a report, as `redact` changes them. O(size)."""
    return map_strings(value, _changes(facts, (), _naming_texts(value)))


def _changes(facts: PrivateFacts, names: Iterable[str], texts: Collection[str]) -> Callable[[str, str], str]:
    """What becomes of the text of a field. `names` are those of models, `texts` all that may name processes."""
    foreign = alias_foreign_models(facts.foreign_models)
    models = {*names, *facts.models} - set(foreign)
    redact_paths_and_ids = _kept_redactor(frozenset(models))
    redact_all = _text_redactor(facts, models, texts)

    # Most texts of a report are those of its detectors, once for each model.
    @cache
    def change(field: str, text: str) -> str:
        if field in KEPT_FIELDS:
            return foreign.get(text, text)
        if field == "label":
            text = redact_label(text, facts)
        if field in ("source", "imported_from"):
            text = PurePosixPath(text.replace("\\", "/")).name or text
        return (redact_paths_and_ids if field in FIXED_FIELDS else redact_all)(text)

    return change


def redact_text(text: str, facts: PrivateFacts, models: Iterable[str]) -> str:
    """A text of a recording's own words, without what `redact` takes out of a report. Names of `models` stay."""
    return redact_texts([text], facts, models)[0]


def redact_texts(texts: Sequence[str], facts: PrivateFacts, models: Iterable[str]) -> list[str]:
    """As `redact_text`, of several texts: one name is the same alias in all of them."""
    return list(map(_text_redactor(facts, models, texts), texts))


def _text_redactor(facts: PrivateFacts, models: Iterable[str], texts: Collection[str]) -> TextRedactor:
    """Replaces all that is private in these texts and in parts of them. Labels may quote processes that are in no
    process column. A Mac runs hundreds of processes, and few occur in a report."""
    foreign, together = alias_foreign_models(facts.foreign_models), "\n".join(texts)
    aliases = alias_names({*facts.processes, *processes_in(texts)} - {facts.target or ""}, "process") | foreign
    occurring = frozenset((name, alias) for name, alias in aliases.items() if name in together)
    return _kept_redactor(frozenset(models) - set(foreign), facts.quotes, occurring, facts.target)


@lru_cache(16)
def _kept_redactor(
    models: frozenset[str],
    quotes: tuple[str, ...] = (),
    aliases: frozenset[tuple[str, str]] = frozenset(),
    target: str | None = None,
) -> TextRedactor:
    """Kept, because making one checks the name of every model, and a page needs one for each slow prediction."""
    return TextRedactor(models=models, quotes=quotes, aliases=dict(aliases), target=target)


def redact_label(label: str, facts: PrivateFacts) -> str:
    """A label without what another process called its work. The process that it quotes stays, for `redact_texts`."""
    names = [name.replace("-", "_") for name in (*facts.models, *facts.foreign_models)]
    if note := _COMMITTED.fullmatch(label):
        is_public = _METAL_LABEL.fullmatch(note[2]) or any(name in note[2] for name in names)
        return label if is_public else f"{note[1]}GPU work{note[3]}"
    quoted = [match for match in QUOTED_PROCESS.finditer(label) if process_name(match.group()) != facts.target]
    if not quoted:
        return label
    given_name = label[: quoted[-1].start()].strip()
    if _METAL_LABEL.fullmatch(given_name) or any(name in given_name for name in names):
        return label
    return f"GPU work {label[quoted[-1].start() :]}"


def redact_names(names: Iterable[str], facts: PrivateFacts) -> list[str]:
    """Names of models as a report has them: only those of foreign models are replaced."""
    foreign = alias_foreign_models(facts.foreign_models)
    return [foreign.get(name, name) for name in names]


def public_attributes(attributes: Mapping[str, str]) -> dict[str, str]:
    """Attributes of a table with private values, paths and ids replaced."""
    private = PRIVATE_ATTRIBUTES.search
    return {key: PRIVATE if private(key) else without_private(value) for key, value in attributes.items()}


def without_private(text: str) -> str:
    """A text that knows nothing of a recording without users in paths, mail addresses, host names and ids."""
    return _redactor()(text)


@cache
def _redactor() -> TextRedactor:
    """What is private by its form alone."""
    return TextRedactor()


def replacement_counts(text: str, facts: PrivateFacts) -> dict[str, int]:
    """What stands in a redacted text for something private, and how often: how many names, each by its alias."""
    processes = alias_names(set(facts.processes) - {facts.target or ""}, "process")
    foreign = alias_foreign_models(facts.foreign_models)

    def occurring(aliases: Mapping[str, str]) -> int:
        return sum(bool(re.search(standing_alone(re.escape(alias)), text)) for alias in set(aliases.values()))

    counts = {"names of processes": occurring(processes), "names of foreign models": occurring(foreign)}
    counts |= {words: len(re.findall(pattern, text)) for words, pattern in _STAND_INS.items()}
    return {words: count for words, count in counts.items() if count}


def _naming_texts(value: object) -> set[str]:
    """The texts of a report, or of another object with its fields, that may name other processes."""
    texts: set[str] = set()

    def collect(field: str, text: str) -> str:
        if field not in KEPT_FIELDS and field not in FIXED_FIELDS:
            texts.add(text)
        return text

    map_strings(value, collect)
    return texts
