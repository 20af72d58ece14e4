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
`without_functions` takes out where that is asked for. The name of the target stays, and so do process
ids, which mean nothing elsewhere. Other processes are replaced, those of the system too, since a list of known ones
would never be complete; only a name that is also a word of the report itself (`OWN_WORDS`) stays where no process id
follows it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import PurePosixPath
from string import ascii_uppercase
from typing import TYPE_CHECKING

from tracekit.report.strings import map_strings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from tracekit.analysis.code import CallSite, Place
    from tracekit.report.report import Report
    from tracekit.trace.trace import Trace

PRIVATE = "<private>"
"""Stands for a private value that a text quotes."""

NEVER_INCLUDED = ("device name", "device and host ids", "environment", "arguments of the target")
"""What no redacted report holds, in words."""

KEPT_FIELDS = frozenset({"model", "models", "name", "parents", "url", "version"})
"""Fields that stay as they are: model names (`name` is one in `ModelSummary`, a fixed word elsewhere) and addresses."""

FIXED_FIELDS = frozenset(
    {
        "id",
        "title",
        "outcome",
        "severity",
        "pattern",
        "relation",
        "state",
        "lane",
        "kind",
        "level",
        "unit",
        "part",
        "unknown",
        "direction",
        "input_type",
        "instrument",
        "api",
        "function",
        "file",
        "what",
        "thread",
        "table",
        "tables",
        "schema",
        "why",
        "fix",
        "target",
        "target_kind",
    }
)
"""Fields with words of tracekit, of Instruments or of the target: a process that happens to have the same name, as
`top` has, must not change them. Paths and ids are replaced in them too."""

PRIVATE_ATTRIBUTES = re.compile(r"uuid|udid|serial|argument|environment|device-?name|host-?name|user", re.IGNORECASE)
"""Attributes of tables whose value is private whatever it looks like."""

_OWN_WORDS = """
ane app apple check checks codesign column core coreml cpu cut date deleted engine event export file find
finding gpu groups head input install instruments join label last less link load log look make messages
metal ml model more neural node notes open output prediction process record recording row rows run sample
security share size sort split storage strings sum table target template test the time timed top trace
users view watch which write xcode xctrace
"""
OWN_WORDS = frozenset(_OWN_WORDS.split())
"""Words of our own sentences and of Instruments' labels, some of which are also programs. As such they name nobody;
followed by a process id they are replaced like any other."""

GENERIC_DEVICES = frozenset(
    {
        "iphone",
        "ipad",
        "ipod",
        "mac",
        "macbook",
        "macbook pro",
        "macbook air",
        "imac",
        "mac mini",
        "mac studio",
        "mac pro",
        "apple tv",
        "apple watch",
        "apple vision pro",
        "simulator",
    }
)
"""Device names that are product names: replacing them would damage sentences and protect nobody."""

_ALONE_BEFORE, _ALONE_AFTER = r"(?<![^\W_])", r"(?![^\W_])"
"""No letter or digit beside it. An underscore separates, because labels join names with it."""

_RULES: tuple[tuple[str, str, str], ...] = (
    # Users of Windows may have blanks in their names; those of macOS and Linux may not.
    ("windows", r"(?<!\\)(?i:\\+users\\+)[^\\/\"<>|:*?\n]+", "\\Users\\…"),
    ("user", r"[\\/](?i:users|home)[\\/]+[^\\/\s\"'<>|:;,()]+", "/Users/…"),
    ("folders", r"/var/folders/[^/\s]+/[^/\s]+", "/var/folders/…"),
    ("volume", r"/Volumes/[^/\"\n]+", "/Volumes/…"),
    ("mail", r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+", "<e-mail>"),
    ("host", r"(?<![\w-])[\w-]+\.local(?![\w-])", "<host>"),
    (
        "uuid",
        _ALONE_BEFORE + r"(?:[0-9A-Fa-f]{8}(?P<dash>[-_])(?:[0-9A-Fa-f]{4}(?P=dash)){3}[0-9A-Fa-f]{12}"
        r"|[0-9A-Fa-f]{8}-[0-9A-Fa-f]{16}|[0-9A-Fa-f]{40})" + _ALONE_AFTER,
        "<uuid>",
    ),
)
"""Name, pattern and replacement of what is private by its form."""

_REPLACEMENTS = {"quote": PRIVATE} | {name: replacement for name, _, replacement in _RULES}

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

_PID = r"(?: \(\d+\)|, pid: \d+)"

_QUOTED = r"\((?:[^()]|\([^()]*\)){1,200}?" + _PID + r"\)"
"""A process as Instruments writes it in labels and threads: `(python (99926))`, `(python, pid: 773)`."""

_QUOTED_PROCESS = re.compile(_QUOTED)
_METALS_LABEL = re.compile(r"(?:GPU Execution|(?:Command Buffer|[A-Z][a-z]+ Command) \d+|[:\s])*")
"""Labels of work to which the app gave none."""
_PID_AT_END = re.compile(_PID + r"\)?$")


@dataclass(frozen=True, slots=True)
class PrivateFacts:
    """What a recording tells about other people's things, to be looked for in every text."""

    quotes: tuple[str, ...]
    """Texts that are private wherever they appear: device names and ids, arguments."""
    processes: tuple[str, ...]
    """Names of all processes in the recording."""
    target: str | None
    """Name of the process that stays."""
    foreign_models: tuple[str, ...] = ()
    """Models that only other processes ran: they tell what else is on the machine."""
    models: tuple[str, ...] = ()
    """Other models: their names stay, also where a report shows a part of them."""


def private_facts(trace: Trace) -> PrivateFacts:
    """Private facts of a run, from its description and from all its frames."""
    # What only cleans texts needs no frames.
    from tracekit.trace.filter import model_names

    run = trace.run
    devices = [device for device in (run.device, run.host) if device is not None]
    quotes = [run.target.arguments, *(text for device in devices for text in (device.name, device.uuid))]
    known = {(device.model or "").casefold() for device in devices} | GENERIC_DEVICES
    frames = [trace.activity, trace.data, trace.compute, trace.other, trace.hardware, *trace.context.values()]
    foreign = _foreign_models(trace)
    names = {name for frame in frames for column in ("process", "process_name") for name in _texts(frame, column)}
    # Some processes are named in labels alone.
    labels = {text for frame in frames for text in _texts(frame, "label")}
    names |= {_bare(match.group()) for text in labels for match in _QUOTED_PROCESS.finditer(text)}
    return PrivateFacts(
        quotes=tuple(dict.fromkeys(q for q in quotes if q and len(q) >= 3 and q.casefold() not in known)),
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


def _foreign_models(trace: Trace) -> tuple[str, ...]:
    """Models of foreign hardware rows that the target did not use."""
    from tracekit.trace.events import Attribution
    from tracekit.trace.frames import is_any

    foreign = trace.hardware[is_any(trace.hardware["attribution"], Attribution.FOREIGN)]
    return tuple(sorted(_texts(foreign, "model") - set(trace.models["name"])))


def redact(report: Report, facts: PrivateFacts) -> Report:
    """The report without what identifies people, machines and other software. O(size of the report)."""
    foreign = _foreign_aliases(facts.foreign_models)
    models = {entry.name for entry in report.models} | {row.model for row in report.aggregation if row.model}
    models = (models | set(facts.models)) - set(foreign)
    aliases = _aliases({*facts.processes, *_quoted_processes(report)} - {facts.target or ""}) | foreign
    paths_and_ids = _Cleaner(models=models)
    everything = _Cleaner(models=models, quotes=facts.quotes, aliases=aliases, target=facts.target)

    # Most texts of a report are those of its detectors, once for each model.
    @cache
    def change(field: str, text: str) -> str:
        if field in KEPT_FIELDS:
            return foreign.get(text, text)
        if field == "label":
            text = redact_label(text, facts)
        if field in ("source", "imported_from"):
            text = PurePosixPath(text.replace("\\", "/")).name or text
        return (paths_and_ids if field in FIXED_FIELDS else everything)(text)

    tables = tuple(replace(table, attributes=public_attributes(table.attributes)) for table in report.tables)
    recording = replace(report.recording, device_name=None, arguments=None, redacted=True)
    return map_strings(replace(report, recording=recording, tables=tables), change)


def without_functions(report: Report) -> Report:
    """The report without names of the app's functions and source files: each becomes `function A`, `file A`, ... the
    same throughout the report."""
    code = report.code
    sites = [site for check in report.checks for site in check.call_sites]
    sites += code.call_sites if code is not None else ()
    places: list[CallSite | Place] = [*sites, *(place for site in sites for place in site.called_by)]
    aliases = _aliases({place.function for place in places if place.function}, "function")
    files = _aliases({place.file for place in places if place.file}, "file")

    def change(field: str, text: str) -> str:
        return (aliases if field == "function" else files if field == "file" else {}).get(text, text)

    return map_strings(report, change)


def redact_text(text: str, facts: PrivateFacts, models: Iterable[str]) -> str:
    """A text made of a recording's own words, without what `redact` takes out of a report. `models` are names of
    models, which stay."""
    return redact_texts([text], facts, models)[0]


def redact_texts(texts: Sequence[str], facts: PrivateFacts, models: Iterable[str]) -> list[str]:
    """As `redact_text`, of several texts: one name is the same alias in all of them."""
    quoted = {_bare(match.group()) for text in texts for match in _QUOTED_PROCESS.finditer(text)}
    foreign = _foreign_aliases(facts.foreign_models)
    aliases = _aliases({*facts.processes, *quoted} - {facts.target or ""}) | foreign
    clean = _Cleaner(models=set(models) - set(foreign), quotes=facts.quotes, aliases=aliases, target=facts.target)
    return [clean(text) for text in texts]


def redact_label(label: str, facts: PrivateFacts) -> str:
    """A label without what another process called its work on the GPU. The process that it quotes stays, for
    `redact_texts`."""
    quoted = [match for match in _QUOTED_PROCESS.finditer(label) if _bare(match.group()) != facts.target]
    if not quoted:
        return label
    own = label[: quoted[-1].start()].strip()
    names = (name.replace("-", "_") for name in (*facts.models, *facts.foreign_models))
    if _METALS_LABEL.fullmatch(own) or any(name in own for name in names):
        return label
    return f"GPU work {label[quoted[-1].start() :]}"


def redact_names(names: Iterable[str], facts: PrivateFacts) -> list[str]:
    """Names of models as a report has them: only those of foreign models are replaced."""
    foreign = _foreign_aliases(facts.foreign_models)
    return [foreign.get(name, name) for name in names]


def public_attributes(attributes: Mapping[str, str]) -> dict[str, str]:
    """Attributes of a table with private values, paths and ids replaced."""
    clean = _Cleaner()
    return {key: PRIVATE if PRIVATE_ATTRIBUTES.search(key) else clean(value) for key, value in attributes.items()}


def without_private(text: str) -> str:
    """A text that knows nothing of a recording without users in paths, mail addresses, host names and ids."""
    return _cleaner()(text)


def replaced(text: str, facts: PrivateFacts) -> dict[str, int]:
    """What stands in a redacted text for something private, in words, and how often. For names it is how many of the
    recording's names occur, each under its alias."""
    aliases = _aliases(set(facts.processes) - {facts.target or ""}), _foreign_aliases(facts.foreign_models)
    names = [len({alias for alias in each.values() if re.search(_alone(re.escape(alias)), text)}) for each in aliases]
    counts = {"names of processes": names[0], "names of foreign models": names[1]}
    counts |= {words: len(re.findall(pattern, text)) for words, pattern in _STAND_INS.items()}
    return {words: count for words, count in counts.items() if count}


def _texts(frame: pd.DataFrame, column: str) -> set[str]:
    """Distinct texts of a column; none where the frame lacks it."""
    if column not in frame:
        return set()
    return {str(text) for text in frame[column].dropna().unique() if str(text).strip()}


def _aliases(names: Iterable[str], noun: str = "process") -> dict[str, str]:
    """`process A` to `process Z`, then `process AA`, in alphabetical order of the names."""
    return {name: f"{noun} {_letters(index)}" for index, name in enumerate(sorted(set(names)))}


def _foreign_aliases(models: Iterable[str]) -> dict[str, str]:
    """Aliases of foreign models, also in the spelling of labels, which may write `_` for a hyphen."""
    aliases = _aliases(models, "foreign model")
    return {name.replace("-", "_"): alias for name, alias in aliases.items()} | aliases


def _letters(index: int) -> str:
    """0 is A, 25 is Z, 26 is AA."""
    letters = ""
    index += 1
    while index:
        index, digit = divmod(index - 1, len(ascii_uppercase))
        letters = ascii_uppercase[digit] + letters
    return letters


def _quoted_processes(report: Report) -> set[str]:
    """Names that labels quote with a process id and that no process column may have told."""
    texts: set[str] = set()

    def collect(field: str, text: str) -> str:
        if field not in KEPT_FIELDS:
            texts.add(text)
        return text

    map_strings(report, collect)
    return {_bare(match.group()) for text in texts for match in _QUOTED_PROCESS.finditer(text)}


def _bare(quoted: str) -> str:
    """The name in a quoted process."""
    return _PID_AT_END.sub("", quoted.removeprefix("("))


class _Cleaner:
    """One pass over a text that replaces whatever is private in it. The leftmost match wins, so that a model name
    which contains something that looks private stays whole."""

    def __init__(
        self,
        *,
        models: Iterable[str] = (),
        quotes: Iterable[str] = (),
        aliases: Mapping[str, str] | None = None,
        target: str | None = None,
    ) -> None:
        self._aliases = aliases or {}
        rules = [("quote", _any_of(quotes)), *((name, pattern) for name, pattern, _ in _RULES)]
        if self._aliases:
            rules += _process_rules(self._aliases, target)
        self._pattern = _joined(rules)
        # Most model names hold nothing private; only the others need protection in running text.
        protected = [name for name in models if self(name) != name]
        if protected:
            self._pattern = _joined([("model", _alone(_any_of(protected))), *rules])

    def __call__(self, text: str) -> str:
        return self._pattern.sub(self._replacement, text)

    def _replacement(self, match: re.Match[str]) -> str:
        rule, text = match.lastgroup, match.group()
        if rule in _REPLACEMENTS:
            return _REPLACEMENTS[rule]
        name = _bare(text) if rule in {"quoted", "numbered"} else text
        return text.replace(name, self._aliases.get(name, name), 1)


@cache
def _cleaner() -> _Cleaner:
    """What is private by its form alone."""
    return _Cleaner()


def _process_rules(aliases: Mapping[str, str], target: str | None) -> list[tuple[str, str]]:
    """Rules for names of processes. The target takes part so that a shorter name inside its own does not match."""
    names = {*aliases, target} - {None, ""}
    telling = {name for name in names if name and len(name) >= 3 and name.casefold() not in OWN_WORDS}
    return [
        ("quoted", _QUOTED),
        ("numbered", _ALONE_BEFORE + _any_of(name for name in names if name) + _PID),
        ("process", _alone(_any_of(telling))),
    ]


def _any_of(texts: Iterable[str]) -> str:
    """Pattern for any of these texts, longest first; empty for none."""
    ordered = sorted(set(texts), key=lambda text: (-len(text), text))
    return f"(?:{'|'.join(map(re.escape, ordered))})" if ordered else ""


def _alone(pattern: str) -> str:
    return f"{_ALONE_BEFORE}{pattern}{_ALONE_AFTER}" if pattern else ""


def _joined(rules: Iterable[tuple[str, str]]) -> re.Pattern[str]:
    """One pattern of named groups; rules without a pattern are left out."""
    return re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in rules if pattern))
