"""Runtimes as data: one TOML file beside this module for each, with what its signposts mean and how else it is known.

    name = "WhisperKit"
    subsystems = ["com.argmax.whisperkit"]

    [keys]                                   # of messages; nothing else of a message is read
    tokens = { type = "integer", unit = "tokens" }

    [[signposts]]
    names = ["EncodeAudio", "Encode*"]       # shell patterns; the first entry that fits a name counts
    phase = "audio encoding"                 # one of `PHASES`
    keys = ["tokens"]

`docs/runtimes.md` says what each key means. Certainty and source of an entry are comments of its file. All other
signposts of the target may be operations of the app (`Units`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final

from tracekit.errors import UsageError, unknown

PHASES: Final[Mapping[str, str]] = {
    "session": "Session",
    "request": "Request",
    "instructions": "Instructions",
    "load": "Load",
    "specialization": "Load",
    "unload": "Load",
    "warm-up": "Load",
    "reset": "Load",
    "tokenization": "Tokenizer",
    "detokenization": "Tokenizer",
    "prompt": "Prompt",
    "generation": "Generate",
    "token interval": "Generate",
    "token": "Generate",
    "step preparation": "Generate",
    "sampling": "Generate",
    "forward pass": "Model",
    "inference": "Model",
    "setup": "Model",
    "cache": "Cache",
    "feature extraction": "Encoder",
    "audio encoding": "Encoder",
    "image encoding": "Encoder",
    "text decoding": "Decoder",
    "clustering": "Clustering",
    "operator": "Operators",
    "delegate": "Operators",
    "tool call": "Tools",
    "memory": "Memory",
    "other": "Other",
    "unknown": "Other",
}
"""What a signpost of a runtime can stand for, and the lane of each. `unknown` is what is left."""
LANES: Final = tuple(dict.fromkeys(PHASES.values()))
"""Top to bottom."""
TYPES: Final = ("integer", "number", "text")
_BEFORE: Final = ("start_ns", "duration_ns", "form", "runtime", "phase", "lane", "name", "subsystem", "category")
COLUMNS: Final = (*_BEFORE, "process", "pid", "thread", "tid", "table", "row", "request")
"""Columns of `Trace.phases` before and behind those of keys, which cannot be called so."""
_TAKEN: Final = (*COLUMNS, "session", "identity", "error", "consumed_tokens", "cached_tokens")
"""Columns of it that are no keys."""

_RUNTIME: Final = ("name", "core_ml", "partitions", "subsystems", "keys", "signposts", "recognized")
_SIGNPOST: Final = ("names", "subsystem", "category", "phase", "lane", "keys", "patterns", "private")
_RECOGNIZED: Final = ("models", "libraries", "functions", "pipelines")


@dataclass(frozen=True, slots=True)
class Key:
    """A value in messages of a runtime."""

    type: str
    """One of `TYPES`."""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Signpost:
    """What signposts of some names mean."""

    names: tuple[str, ...]
    phase: str
    lane: str
    subsystem: str = ""
    """Empty: any of the runtime."""
    category: str = ""
    keys: tuple[str, ...] = ()
    """What is read of their messages."""
    patterns: tuple[str, ...] = ()
    """Regular expressions with groups named by keys; without any, messages are `key=value, ...`."""


@dataclass(frozen=True, slots=True)
class Recognized:
    """What a recording shows of a runtime that logs nothing. Shell patterns, `functions` regular expressions."""

    models: tuple[str, ...] = ()
    """Models that Core ML names."""
    libraries: tuple[str, ...] = ()
    """Images in call stacks."""
    functions: tuple[str, ...] = ()
    """Beginnings of functions in call stacks."""
    pipelines: tuple[str, ...] = ()
    """Functions that Metal compiled for the target."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime of models."""

    name: str
    subsystems: tuple[str, ...] = ()
    keys: Mapping[str, Key] = field(default_factory=dict)
    signposts: tuple[Signpost, ...] = ()
    recognized: Recognized = Recognized()
    core_ml: bool = False
    """Runs all its models through Core ML."""
    partitions: bool = False
    """Runs what Core ML lacks of a graph itself, between models that are partitions of it."""

    def signpost(self, subsystem: str, category: str, name: str) -> Signpost | None:
        """What a signpost of the runtime means; None where its name is not known."""
        for entry in self.signposts:
            elsewhere = (entry.subsystem or subsystem) != subsystem or (entry.category or category) != category
            if not elsewhere and any(fnmatchcase(name, pattern) for pattern in entry.names):
                return entry
        return None


@cache
def runtimes() -> tuple[Runtime, ...]:
    """All known runtimes, by name of their file."""
    known = tuple(read_runtime(path) for path in sorted(Path(__file__).parent.glob("*.toml")))
    check_together(known)
    return known


def check_together(known: Collection[Runtime]) -> None:
    """Raise `UsageError` where two runtimes claim one subsystem, or one key with two types."""
    owner: dict[str, str] = {}
    keys: dict[str, Key] = {}
    for runtime in known:
        for subsystem in runtime.subsystems:
            if (other := owner.setdefault(subsystem, runtime.name)) != runtime.name:
                raise UsageError(f"'{subsystem}' is a subsystem of both {other} and {runtime.name}")
        for name, key in runtime.keys.items():
            if keys.setdefault(name, key) != key:
                raise UsageError(f"{runtime.name}: 'keys.{name}' has another type or unit in another runtime")


def read_runtime(path: Path) -> Runtime:
    """The runtime that a TOML file describes. Raises `UsageError`, with file and key, for what is wrong."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        _check_keys(table, _RUNTIME, "")
        name = _value(table, "name", _TEXT)
        if not name:
            raise UsageError("'name' is missing")
        flags = (_value(table, each, _FLAG) for each in ("core_ml", "partitions"))
        keys = {key: _key(key, value, f"keys.{key}") for key, value in _value(table, "keys", _TABLE).items()}
        entries = _value(table, "signposts", _TABLES)
        subsystems = tuple(_value(table, "subsystems", _TEXTS))
        signposts = tuple(
            _signpost(entry, keys, subsystems, f"signposts[{number}].") for number, entry in enumerate(entries)
        )
        if bool(subsystems) != bool(signposts):
            raise UsageError("'subsystems' and [[signposts]] need each other")
        recognized = _value(table, "recognized", _TABLE)
        _check_keys(recognized, _RECOGNIZED, "recognized.")
        lists = {each: tuple(_value(recognized, each, _TEXTS, "recognized.")) for each in _RECOGNIZED}
        for pattern in lists["functions"]:
            _compiled(pattern, "recognized.functions")
        if not signposts and not any(lists.values()):
            raise UsageError("needs [[signposts]] or [recognized]: nothing else shows a runtime")
        return Runtime(name, subsystems, keys, signposts, Recognized(**lists), *flags)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.name}: not valid TOML: {error}") from None
    except UsageError as error:
        raise UsageError(f"{path.name}: {error}") from None


def _signpost(entry: dict[str, Any], declared: Mapping[str, Key], subsystems: Collection[str], where: str) -> Signpost:
    _check_keys(entry, _SIGNPOST, where)
    names, phase = tuple(_value(entry, "names", _TEXTS, where)), _value(entry, "phase", _TEXT, where)
    if not names:
        raise UsageError(f"'{where}names': must name at least one signpost")
    if phase not in PHASES or phase == "unknown":
        raise UsageError(f"'{where}phase': {unknown('phase', phase, PHASES)}")
    lane = _value(entry, "lane", _TEXT, where) or PHASES[phase]
    if lane not in LANES:
        raise UsageError(f"'{where}lane': {unknown('lane', lane, LANES)}")
    subsystem = _value(entry, "subsystem", _TEXT, where)
    if subsystem and subsystem not in subsystems:
        raise UsageError(f"'{where}subsystem': '{subsystem}' is not in 'subsystems'")
    keys, patterns = tuple(_value(entry, "keys", _TEXTS, where)), tuple(_value(entry, "patterns", _TEXTS, where))
    for key in keys:
        if key not in declared:
            raise UsageError(f"'{where}keys': '{key}' is not declared in [keys]")
    for pattern in patterns:
        for group in _compiled(pattern, f"{where}patterns").groupindex:
            if group not in keys:
                raise UsageError(f"'{where}patterns': group '{group}' is not in 'keys'")
    private = _value(entry, "private", _FLAG, where)
    if private and (keys or patterns):
        raise UsageError(f"'{where}private': nothing is read of private messages, so 'keys' must be empty")
    return Signpost(names, phase, lane, subsystem, _value(entry, "category", _TEXT, where), keys, patterns)


def _key(name: str, value: object, where: str) -> Key:
    if name in _TAKEN or not name.isidentifier():
        raise UsageError(f"'{where}': a key cannot be called so; letters, digits and _ make a name that is not taken")
    if not isinstance(value, dict):
        raise UsageError(f"'{where}': must be a table with 'type', and 'unit' if it has one")
    _check_keys(value, ("type", "unit"), f"{where}.")
    kind = _value(value, "type", _TEXT, f"{where}.")
    if kind not in TYPES:
        raise UsageError(f"'{where}.type': {unknown('type', kind, TYPES)}")
    return Key(kind, _value(value, "unit", _TEXT, f"{where}."))


def _compiled(pattern: str, where: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(f"'{where}': '{pattern}' is not a regular expression: {error}") from None


def _check_keys(table: Mapping[str, Any], known: Collection[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise UsageError(f"'{where}{key}': {unknown('key', key, known)}")


_Form = tuple[Any, Callable[[Any], bool], str]
"""A value that is not given, whether one that is given fits, and what it must be."""
_FLAG: Final[_Form] = (False, lambda value: isinstance(value, bool), "true or false")
_TEXT: Final[_Form] = ("", lambda value: isinstance(value, str), "a text")
_TEXTS: Final[_Form] = ([], lambda value: _is_list(value, str) and all(value), "a list of texts")
_TABLE: Final[_Form] = ({}, lambda value: isinstance(value, dict), "a table")
_TABLES: Final[_Form] = ([], lambda value: _is_list(value, dict), "an array of tables, [[signposts]]")


def _is_list(value: Any, of: type) -> bool:
    return isinstance(value, list) and all(isinstance(each, of) for each in value)


def _value(table: Mapping[str, Any], key: str, form: _Form, where: str = "") -> Any:
    missing, fits, words = form
    value = table.get(key, missing)
    if not fits(value):
        raise UsageError(f"'{where}{key}': must be {words}")
    return value


_SYSTEM: Final = "com.apple."
"""Subsystems of Apple begin so: what they log is no operation of the app."""


@dataclass(frozen=True, slots=True)
class Units:
    """Which signposts are operations of the app. By default all that the target logs itself."""

    only: tuple[str, ...] = ()
    """Shell patterns of names; empty: all that the target logs outside of Apple's subsystems."""
    skip: tuple[str, ...] = ()
    """Shell patterns of names that are none."""

    def choose(self, subsystem: str, name: str) -> bool:
        """Whether signposts of a name are operations."""
        if any(fnmatchcase(name, pattern) for pattern in self.skip):
            return False
        if self.only:
            return any(fnmatchcase(name, pattern) for pattern in self.only)
        return not subsystem.startswith(_SYSTEM)


ALL_OWN: Final = Units()
"""What counts where nothing is set."""
