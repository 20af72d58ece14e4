"""The verdict of `tracekit check` as SARIF 2.1.0, for code scanning.

A trace has no line of source, and GitHub refuses a file in which a result has no place in one. So each result stands
at the line of the setting that it is about.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tracekit._version import __version__
from tracekit.characters import visible
from tracekit.comparison.settings import NAMES
from tracekit.comparison.verdict import Item, Verdict
from tracekit.errors import REPOSITORY, docs_page

if TYPE_CHECKING:
    from tracekit.comparison.gate import Gate

MAX_RESULTS = 5_000
"""GitHub keeps no more of a run, worst first."""
_LEVELS = {Verdict.ERROR: "error", Verdict.FAILED: "error", Verdict.INCONCLUSIVE: "warning"}
_RULES = {
    **{name: f"Limit {name} of [check.limits] is exceeded" for name in NAMES},
    "baseline": "A model is slower than in the baseline, or cannot be compared with it",
    "environment": "The environment differs from that of the baseline",
    "findings": "More findings than [check.findings] allows, or a finding that the baseline does not have",
    "suppression": "A suppression has expired",
    "config": "The config cannot be used",
    "input": "A recording cannot be checked",
    "tracekit": "The check came to no end",
}
_HELP = docs_page("ci.md")


def render_sarif(gate: Gate, file: str, line: Callable[[Item], int]) -> str:
    """A result for each item that is not fine. `file` is the file of settings, relative to the repository."""
    items = [item for item in gate.items if item.verdict in _LEVELS or _is_suppression(item)][:MAX_RESULTS]
    rules = list(dict.fromkeys(item.subject for item in items))
    driver = {
        "name": "tracekit",
        "semanticVersion": __version__,
        "informationUri": REPOSITORY,
        "rules": [_rule(rule) for rule in rules],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "utf16CodeUnits",
        "results": [_result(item, rules.index(item.subject), file, line(item)) for item in items],
    }
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(document, ensure_ascii=True, indent=2) + "\n"


def _is_suppression(item: Item) -> bool:
    return item.subject == "suppression" and item.verdict is Verdict.NOT_COUNTED


def _rule(name: str) -> dict[str, Any]:
    words = "".join(part.capitalize() for part in name.split("-"))
    return {
        "id": name,
        "name": f"{words}Check",
        "shortDescription": {"text": f"{_RULES[name]}."},
        "fullDescription": {"text": f"{_RULES[name]}."},
        "help": {"text": f"{_RULES[name]}. How limits, baselines and suppressions work: {_HELP}"},
        "helpUri": _HELP,
    }


def _result(item: Item, rule: int, file: str, line: int) -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": file}, "region": {"startLine": line}},
    }
    if item.model is not None:
        location["logicalLocations"] = [{"fullyQualifiedName": visible(item.model), "kind": "module"}]
    fingerprint = _fingerprint(item)
    result: dict[str, Any] = {
        "ruleId": item.subject,
        "ruleIndex": rule,
        "level": _LEVELS.get(item.verdict, "note"),
        "message": {"text": visible(f"{item.title}: {item.text}.")},
        "locations": [location],
        "fingerprints": {"tracekit/v1": fingerprint},
        "partialFingerprints": {"tracekit/v1": fingerprint, "primaryLocationLineHash": fingerprint},
    }
    if _is_suppression(item):
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": visible(item.text)}]
    return result


def _fingerprint(item: Item) -> str:
    """The same for the same complaint in the next run, whatever was measured then."""
    setting = () if item.setting[:1] == ("suppress",) else item.setting
    key = repr((item.subject, item.model, item.about, setting))
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:32]
