"""Replaces what is private in one text, and names that stand for private ones: `process A`, `foreign model B`,
`function AA`. What is private in a recording, `redact.py` says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import islice
from string import ascii_uppercase
from typing import TYPE_CHECKING

from tracekit.characters import map_strings

if TYPE_CHECKING:
    from tracekit.analysis.code.sites import CallSite, Place
    from tracekit.report.report import Report

PRIVATE = "<private>"
"""Stands for a private value that a text quotes."""

_OWN_WORDS = """
ane app apple check checks codesign column core coreml cpu cut date deleted engine event export file find
finding gpu groups head input install instruments join label last less link load log look make messages
metal ml model more neural node notes open output prediction process record recording row rows run sample
security share size sort split storage strings sum table target template test the time timed top trace
users view watch which write xcode xctrace
"""
OWN_WORDS = frozenset({*_OWN_WORDS.split(), "activity monitor"})
"""Words of our own sentences, of Instruments' labels and instruments, some of which are also programs. As such they
name nobody; followed by a process id they are replaced like any other."""

_ALONE_BEFORE, _ALONE_AFTER = r"(?<![^\W_])", r"(?![^\W_])"
"""No letter or digit beside it. An underscore separates, because labels join names with it."""
_BEFORE_ID = r"(?=[0-9A-Fa-f]{8})" + _ALONE_BEFORE
"""Tried first because it fails fast: few words begin with eight hexadecimal digits."""

_Rule = tuple[str, str, str]
"""Name, pattern, and what stands in every text that has a match; empty where that is not known."""
_RULES: tuple[tuple[str, str, str, str], ...] = (
    # Users of Windows may have blanks in their names; those of macOS and Linux may not.
    ("windows", r"(?<!\\)(?i:\\+users\\+)[^\\/\"<>|:*?\n]+", "\\Users\\…", "\\"),
    ("user", r"[\\/](?i:users|home)[\\/]+[^\\/\s\"'<>|:;,()]+", "/Users/…", ""),
    ("folders", r"/var/folders/[^/\s]+/[^/\s]+", "/var/folders/…", "/var/folders/"),
    ("volume", r"/Volumes/[^/\"\n]+", "/Volumes/…", "/Volumes/"),
    ("mail", r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+", "<e-mail>", "@"),
    ("host", r"(?<![\w-])[\w-]+\.local(?![\w-])", "<host>", ".local"),
    (
        "uuid",
        _BEFORE_ID + r"(?:[0-9A-Fa-f]{8}(?P<dash>[-_])(?:[0-9A-Fa-f]{4}(?P=dash)){3}[0-9A-Fa-f]{12}"
        r"|[0-9A-Fa-f]{8}-[0-9A-Fa-f]{16}|[0-9A-Fa-f]{40})" + _ALONE_AFTER,
        "<uuid>",
        "",
    ),
)
"""Of what is private by its form: name, pattern, replacement, and what stands in every text that has it."""

_SIGNS = {"user": re.compile(r"[\\/](?i:users|home)[\\/]"), "uuid": re.compile("[0-9A-Fa-f]{8}")}
"""What every text with a match has too, by name: most texts have neither, and it is soon looked for."""

MAX_KEPT = 1_000
"""Characters of the longest text whose replacement is kept for the next report."""

_REPLACEMENTS = {"quote": PRIVATE} | {name: replacement for name, _, replacement, _ in _RULES}

_PID = r"(?: \(\d+\)|, pid: \d+)"

_QUOTED = r"\((?:[^()]|\([^()]*\)){1,200}?" + _PID + r"\)"
"""A process as Instruments writes it in labels and threads: `(python (99926))`, `(python, pid: 773)`."""

QUOTED_PROCESS = re.compile(_QUOTED)
_PARENTHESES = re.compile(r"\(.*\)")
"""From the first to the last of a line."""
_AT_ONCE = 1_000
"""Texts that are searched for quoted processes at once."""
_PID_AT_END = re.compile(_PID + r"\)?$")


class TextRedactor:
    """Replaces what is private in one pass. The leftmost match wins: names of models stay, whatever is in them."""

    def __init__(
        self,
        *,
        models: Iterable[str] = (),
        quotes: Iterable[str] = (),
        aliases: Mapping[str, str] | None = None,
        target: str | None = None,
    ) -> None:
        self._aliases = aliases or {}
        rules = [("quote", _any_of(quotes), ""), *((name, pattern, sign) for name, pattern, _, sign in _RULES)]
        if self._aliases:
            # The target takes part so that a shorter name inside its own does not match.
            names = {*self._aliases, target or ""} - {""}
            telling = {name for name in names if len(name) >= 3 and name.casefold() not in OWN_WORDS}
            rules += [("quoted", _QUOTED, ""), ("numbered", _ALONE_BEFORE + _any_of(names) + _PID, "")]
            rules += [("process", standing_alone(_any_of(telling)), "")]
        self._rules = tuple(rules)
        # Most model names hold nothing private; only the others need protection in running text.
        protected = [name for name in models if self(name) != name]
        if protected:
            self._rules = (("model", standing_alone(_any_of(protected)), ""), *rules)

    def __call__(self, text: str) -> str:
        """The text without it."""
        if self._aliases:
            return _pattern_of(self._rules).sub(self._replacement, text)
        return (_replaced if len(text) <= MAX_KEPT else _replaced.__wrapped__)(self._rules, text)

    def _replacement(self, match: re.Match[str]) -> str:
        rule, text = match.lastgroup, match.group()
        if rule in _REPLACEMENTS:
            return _REPLACEMENTS[rule]
        name = process_name(text) if rule in {"quoted", "numbered"} else text
        return text.replace(name, self._aliases.get(name, name), 1)


@lru_cache(4_096)
def _replaced(rules: tuple[_Rule, ...], text: str) -> str:
    """The text without what is private by its form. Most are sentences of checks, the same in each report."""
    absent = [name for name, sign in _SIGNS.items() if not sign.search(text)]
    likely = tuple(rule for rule in rules if rule[1] and rule[2] in text and rule[0] not in absent)
    if not likely:
        return text
    return _pattern_of(likely).sub(lambda match: _REPLACEMENTS.get(match.lastgroup or "", match.group()), text)


def processes_in(texts: Iterable[str]) -> set[str]:
    """Names of the processes that texts quote."""
    # A million labels quote none, or the same few with an address behind. Many are searched as one text of many lines.
    rest, quoting = iter(texts), set[str]()
    while some := tuple(islice(rest, _AT_ONCE)):
        lines = "\n".join(some)
        if "))" in lines or ", pid: " in lines:
            quoting.update(_PARENTHESES.findall(lines) if lines.count("\n") < len(some) else some)
    return {process_name(quoted) for text in quoting for quoted in QUOTED_PROCESS.findall(text)}


def process_name(quoted: str) -> str:
    """The name in a quoted process."""
    return _PID_AT_END.sub("", quoted.removeprefix("("))


def _any_of(texts: Iterable[str]) -> str:
    """Pattern for any of these texts, longest first; empty for none."""
    ordered = sorted(set(texts), key=lambda text: (-len(text), text))
    return f"(?:{'|'.join(map(re.escape, ordered))})" if ordered else ""


def standing_alone(pattern: str) -> str:
    """The pattern where no letter or digit is beside it; empty for an empty one."""
    return f"{_ALONE_BEFORE}{pattern}{_ALONE_AFTER}" if pattern else ""


@lru_cache(64)
def _pattern_of(rules: tuple[_Rule, ...]) -> re.Pattern[str]:
    """One pattern of named groups; rules without a pattern are left out."""
    return re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern, _ in rules if pattern))


def alias_names(names: Iterable[str], noun: str) -> dict[str, str]:
    """`process A` to `process Z`, then `process AA`, in alphabetical order of the names."""
    return {name: f"{noun} {ordinal_letters(index)}" for index, name in enumerate(sorted(set(names)))}


def alias_foreign_models(models: Iterable[str]) -> dict[str, str]:
    """Aliases of foreign models, also in the spelling of labels, which may write `_` for a hyphen."""
    aliases = alias_names(models, "foreign model")
    return {name.replace("-", "_"): alias for name, alias in aliases.items()} | aliases


def without_functions(report: Report) -> Report:
    """The report without names of the app's functions and files: each is `function A`, `file A`, ... throughout."""
    code = report.code
    sites = [site for check in report.results for site in check.call_sites]
    sites += (*code.call_sites, *filter(None, [code.own_site])) if code is not None else ()
    named: list[CallSite | Place] = [*sites, *(entry for site in sites for entry in site.called_by)]
    named += [operation.place for operation in report.operations if operation.place is not None]
    aliases = alias_names({entry.function for entry in named if entry.function}, "function")
    files = alias_names({entry.file for entry in named if entry.file}, "file")

    def change(field: str, text: str) -> str:
        return (aliases if field == "function" else files if field == "file" else {}).get(text, text)

    return map_strings(report, change)


def ordinal_letters(index: int) -> str:
    """0 is A, 25 is Z, 26 is AA."""
    letters = ""
    index += 1
    while index:
        index, digit = divmod(index - 1, len(ascii_uppercase))
        letters = ascii_uppercase[digit] + letters
    return letters
