"""The page of a rule: a Markdown file beside it, which is all that is written about the rule.

A page begins with front matter, in the part of YAML that needs no library: `title` states the good state, `finding` the
problem, `symptom` its place in the diagnostic tree, `why` what it costs the user, `references` links in Markdown. Below
are what it is, `## On the timeline`, `## How it is measured`, `## Not a problem when`, and, last, `## Fix`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from tracekit.detectors.patterns import Pattern

_FIX = "\n## Fix\n"
_LINK = re.compile(r"\[(.*)\]\((.*)\)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reference:
    """Where a fact or an advice comes from."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Page:
    """What is written about a rule."""

    title: str
    """Describes the good state."""
    finding_title: str
    """States the problem."""
    pattern: Pattern
    """Where it belongs in the diagnostic tree of Core ML."""
    why: str
    """One sentence: what it costs the user."""
    references: tuple[Reference, ...] = ()
    description: str = ""
    """Markdown: what it is, how it is measured, when it is not a problem."""
    fix: str = ""
    """Markdown with Swift or coremltools code: the API to call."""


def page_beside(module: str, name: str = "") -> Page:
    """The page beside the file `module` (the `__file__` of a rule): `cold-load.md` beside `cold_load.py`, or another
    `name`.

    Raises ValueError for a file that is no page, OSError where there is none.
    """
    path = Path(module)
    path = path.with_name(f"{name or path.stem.replace('_', '-')}.md")
    try:
        return parse_page(path.read_text("utf-8"))
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path.name} is not the page of a rule: {error}") from error


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


def page_text(rule: str, page: Page, needs: str, thresholds: str) -> str:
    """The page in full, as Markdown. `needs` and `thresholds` are what the code of the rule says of itself."""
    parts = [
        f"# {rule}",
        f"**{page.finding_title}.** {page.why}",
        _symptom(page.pattern),
        page.description,
        needs,
        thresholds,
        f"## Fix\n\n{page.fix}",
        "\n".join(["## Sources", "", *(f"- [{source.title}]({source.url})" for source in page.references)]),
    ]
    return "\n\n".join(parts) + "\n"


def _symptom(pattern: Pattern) -> str:
    """Where `tracekit diagnose` shows the check."""
    if pattern == Pattern.RECORDING:
        return "About the recording itself, not the app."
    leaf, _, symptom = pattern.partition(" ")
    return f"Symptom: {symptom} (`tracekit diagnose`, {leaf})."


def _value(text: str) -> str:
    """A scalar: quoted as in JSON, or plain."""
    text = text.strip()
    return str(json.loads(text)) if text.startswith('"') else text
