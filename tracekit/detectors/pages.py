"""The page of a rule: a Markdown file beside it, which is all that is written about the rule.

A page begins with front matter, in the part of YAML that needs no library: `title` states the good state, `finding` the
problem, `symptom` its place in the diagnostic tree, `why` what it costs the user, `references` links in Markdown. Below
are what it is, `## On the timeline`, `## How it is measured`, `## Not a problem when`, and, last, `## Fix`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any

from tracekit.errors import UsageError, suggest_name

_FIX = "\n## Fix\n"
_LINK = re.compile(r"\[(.*)\]\((.*)\)", re.DOTALL)


class Pattern(StrEnum):
    """A leaf of the diagnostic tree, the project's own guide to load failures, performance, memory, accuracy and
    conversion of models, and to failed requests; the value is what the report calls it."""

    UNSUPPORTED_VERSION = "1a unsupported model version"
    NO_COMPUTE_PLAN = "1b no compute plan"
    OTHER_LOAD_FAILURE = "1c other load failure"
    SLOW_FIRST_LOAD = "2a cache miss or slow first load"
    SLOW_PREDICTIONS = "2b all predictions slow"
    SLOW_ON_ONE_DEVICE = "2c slow on one device"
    MEMORY_GROWS = "3a memory grows"
    OUT_OF_MEMORY_ON_LOAD = "3b out of memory on load"
    PALETTIZATION_ACCURACY = "4a accuracy after palettization"
    QUANTIZATION_ACCURACY = "4b accuracy after quantization"
    PRUNING_ACCURACY = "4c accuracy after pruning"
    UNSUPPORTED_OPERATION = "5a operation not supported"
    WRONG_OUTPUT = "5b wrong output"
    FAILED_REQUESTS = "6a requests fail or are cut off"
    RECORDING = "the recording itself"
    """Not of the tree: whether the recording shows what it should."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Where a fact or an advice comes from."""

    title: str
    """Title of the source."""
    url: str
    """Its address."""


@dataclass(frozen=True, slots=True)
class Page:
    """What is written about a rule."""

    title: str
    """Describes the good state."""
    finding_title: str
    """States the problem."""
    pattern: Pattern
    """Where it belongs in the diagnostic tree."""
    why: str
    """One sentence: what it costs the user."""
    references: tuple[Reference, ...] = ()
    description: str = ""
    """Markdown: what it is, how it is measured, when it is not a problem."""
    fix: str = ""
    """Markdown with Swift or coremltools code: the API to call."""
    name: str = ""
    """Name of its file, which is the id of its rule."""

    def fix_from(self, start: str) -> str:
        """The fix from where it begins so, for one that replaces what stands before. Raises ValueError without any."""
        return self.fix[self.fix.index(start) :]


BESIDE = Page("", "", Pattern.RECORDING, "")
"""Stands for the page beside the module that holds the rule."""


def page_beside(module: str, name: str = "") -> Page:
    """The page beside `module` (the `__file__` of a rule): `cold-load.md` beside `cold_load.py`, or another `name`.

    Raises ValueError for a file that is no page, OSError where there is none.
    """
    path = Path(module)
    path = path.with_name(f"{name or path.stem.replace('_', '-')}.md")
    try:
        return replace(parse_page(path.read_text("utf-8")), name=path.stem)
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path.name} is not the page of a rule: {error}") from error


def rule(package: str, name: str) -> Any:
    """tracekit's own detector with this id in `rules` or `model_rules`, without loading the others."""
    return import_module(f"tracekit.detectors.{package}.{name.replace('-', '_')}").DETECTOR


def parse_page(text: str) -> Page:
    """The page in a text. Raises ValueError or KeyError for a text that is none. O(n)."""
    opening, front, body = text.split("---\n", 2)
    if opening.strip():
        raise ValueError("it does not begin with front matter")
    facts: dict[str, str] = {}
    references = []
    for line in front.splitlines():
        if line.startswith("- "):
            link = _LINK.fullmatch(_value(line[2:]))
            if link is None:
                raise ValueError(f"no link in Markdown: {line}")
            references.append(Reference(link[1], link[2]))
        else:
            key, _, rest = line.partition(":")
            facts[key] = _value(rest)
    description, _, fix = body.partition(_FIX)
    return Page(
        title=facts["title"],
        finding_title=facts["finding"],
        pattern=Pattern(facts["symptom"]),
        why=facts["why"],
        references=tuple(references),
        description=description.strip(),
        fix=fix.strip(),
    )


def page_text(rule: str, page: Page, from_code: str) -> str:
    """The page in full, as Markdown. `from_code` is what the code of the rule says of itself."""
    parts = [
        f"# {rule}",
        f"**{page.finding_title}.** {page.why}",
        _symptom(page.pattern),
        page.description,
        from_code,
        f"## Fix\n\n{page.fix}",
        "\n".join(["## Sources", "", *(f"- [{source.title}]({source.url})" for source in page.references)]),
    ]
    return "\n\n".join(parts) + "\n"


def _symptom(pattern: Pattern) -> str:
    """Where `tracekit explain` shows the check."""
    if pattern == Pattern.RECORDING:
        return "About the recording itself, not the app."
    leaf, _, symptom = pattern.partition(" ")
    return f"Symptom: {symptom} (`tracekit explain`, {leaf})."


def _value(text: str) -> str:
    """A scalar: quoted as in JSON, or plain."""
    text = text.strip()
    return str(json.loads(text)) if text.startswith('"') else text


GENERATED = Path(__file__).with_name("generated.json")
"""What a page takes from the code of its rule, by id. `make docs` writes it."""


def _own_file(rule: str) -> Path:
    """The page of tracekit's own rule with this id, of recordings or of model files."""
    path = GENERATED.parent / "rules" / f"{rule}.md"
    return path if path.exists() else GENERATED.parent / "model_rules" / path.name


def unknown_check(name: str, ids: Iterable[str]) -> UsageError:
    """Error for a check that is none of these: the command that runs it, or the check that may be meant."""
    if name in json.loads(GENERATED.read_text("utf-8")):
        of, runs = ("recordings", "analyze") if _own_file(name).parent.name == "rules" else ("model files", "inspect")
        return UsageError(f"'{name}' is a check of {of}; `tracekit {runs}` runs it")
    near = suggest_name(name, ids)
    return UsageError(f"unknown check '{name}'{f'{near} List' if near else '; list'} them with `tracekit explain`")


def own_page(rule: str) -> str | None:
    """The page of tracekit's own rule with this id, of recordings or of model files, as Markdown, without loading a
    rule and what it computes with; None where there is none."""
    from_code = json.loads(GENERATED.read_text("utf-8")).get(rule)
    return from_code and page_text(rule, parse_page(_own_file(rule).read_text("utf-8")), from_code)
