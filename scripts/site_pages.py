"""Put the pages of the site together in a folder: `docs/`, the README as start page, the pages of checks, and what the
code says of commands, of Python names and of keys in JSON. Links to files that are no page lead to the repository.

python scripts/site_pages.py [FOLDER]
"""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import tracekit
from tracekit.cli.commands import COMMANDS, Command
from tracekit.cli.options import OPTIONS
from tracekit.detectors.model_runner import MODEL_DETECTORS
from tracekit.detectors.pages import own_page
from tracekit.detectors.registry import DETECTORS
from tracekit.notebook.recordings import LoadedTrace, LoadedTraces
from tracekit.notebook.reports import Finding, Replay, Report, Why
from tracekit.notebook.several import (
    Checked,
    Comparison,
    History,
    Inspection,
    PerformanceInspection,
    Table,
)
from tracekit.notebook.trace_plots import TracePlots
from tracekit.render.forms import ENDINGS
from tracekit.report.serialize import SCHEMAS, schema_text

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "site-pages"
FILES = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Homepage"] + "/blob/main/"
NOTEBOOK = (
    LoadedTrace,
    LoadedTraces,
    TracePlots,
    Report,
    Finding,
    Why,
    Replay,
    Checked,
    Comparison,
    Table,
    History,
    Inspection,
    PerformanceInspection,
)
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)([^)]*)(?=\))")
_FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
_CODE_WITH_BAR = re.compile(r"(?<!`)`([^`\n]*\\\|[^`\n]*)`(?!`)")


def sources() -> dict[str, str]:
    """Path in the repository → path in the site, of every page that is a file."""
    docs = [path.relative_to(ROOT / "docs").as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))]
    return {
        "README.md": "index.md",
        **{f"docs/{path}": path for path in docs if not path.startswith("plugin-example/")},
        "benchmarks/README.md": "benchmarks.md",
        "benchmarks/results.md": "benchmark-results.md",
        "sample_traces/README.md": "samples.md",
    }


def checks() -> dict[str, str]:
    """The same for the pages of checks, to which their code adds what they need and their thresholds."""
    listed = ((DETECTORS, "rules"), (MODEL_DETECTORS, "model_rules"))
    return {
        f"tracekit/detectors/{folder}/{each.id}.md": f"detectors/{each.id}.md"
        for group, folder in listed
        for each in group
    }


def linked(text: str, source: str, page: str, known: dict[str, str]) -> str:
    """A page of the repository as one of the site: its links lead to pages, or to the repository. Raises ValueError
    for a link that leads nowhere."""

    def target(link: re.Match[str]) -> str:
        path = os.path.normpath((Path(source).parent / link[1]).as_posix()).replace(os.sep, "/")
        path = f"{path}/README.md" if f"{path}/README.md" in known else path
        if path in known:
            return os.path.relpath(known[path], Path(page).parent).replace(os.sep, "/") + link[2]
        if path.startswith("docs/pictures/"):
            return os.path.relpath(path.removeprefix("docs/"), Path(page).parent).replace(os.sep, "/")
        if not (ROOT / path).exists():
            raise ValueError(f"{source}: no file {link[1]}")
        return FILES + path + link[2]

    parts = _FENCE.split(text)
    for at in range(0, len(parts), 2):
        # What belongs to an item of a numbered list is indented by four in Python-Markdown.
        parts[at] = re.sub(r"^   (?=\S)", "    ", parts[at], flags=re.MULTILINE)
        parts[at] = _CODE_WITH_BAR.sub(lambda code: _code(code[1].replace(r"\|", "|")), parts[at])
        parts[at] = _LINK.sub(target, parts[at])
    return "".join(parts)


def _code(text: str) -> str:
    """Code in a cell of a table: in Python-Markdown a bar between backticks ends the cell, or keeps its backslash."""
    return f"<code>{escape(text, quote=False).replace('|', '&#124;')}</code>"


def commands_page() -> str:
    """Every command with all its options."""
    lines = ["# Every command", "", "As `tracekit COMMAND --help-all` prints it; an option means the same in each."]
    lines += ["[Errors and exit statuses](commands.md) of all commands.", ""]
    return "\n".join([*lines, *(line for command in COMMANDS for line in _command(command))])


def _command(command: Command) -> list[str]:
    summary = command.summary[0].upper() + command.summary[1:]
    lines = [f"## tracekit {command.name}", "", f"{summary}. {command.says}", ""]
    lines += ["```sh", *command.examples, "```", ""]
    rows = [(argument.shown, argument.help) for argument in command.arguments]
    rows += [(OPTIONS[name].usage(name), OPTIONS[name].help) for name in command.options]
    lines += ["| argument or option | is |", "|---|---|"]
    lines += [f"| {_code(shown)} | {_cell(text)} |" for shown, text in rows]
    lines += [""]
    if command.forms:
        files = ", ".join(ENDINGS[form][0] for form in command.files)
        lines += [f"Formats: {', '.join(command.forms)}{f'; files also {files}' if files else ''}.", ""]
    if command.status:
        lines += [f"Exit status: {command.status}.", ""]
    return lines


def _cell(text: str) -> str:
    return escape(text, quote=False).replace("|", "&#124;").replace("*", r"\*")


def python_page() -> str:
    """Every public name of the package, and what its functions give, with docstrings."""
    lines = ["# Python API", "", "Docstrings of `tracekit` and of what its functions give. How to use them:"]
    lines += ["[tracekit in Python](python.md).", "", "## tracekit", ""]
    for name in sorted(tracekit.__all__, key=str.casefold):
        value = getattr(tracekit, name)
        if not name.startswith("_") and not inspect.isclass(value):
            lines += _documented(f"tracekit.{name}", value)
    for kind in (getattr(tracekit, name) for name in sorted(tracekit.__all__)):
        if inspect.isclass(kind):
            lines += _class(f"tracekit.{kind.__name__}", kind)
    for kind in NOTEBOOK:
        lines += _class(kind.__name__, kind)
    return "\n".join(lines)


def _class(name: str, kind: type) -> list[str]:
    """A class, its own methods and properties, and those of `Page`, which all that shows itself has."""
    lines = [f"## {name}", "", inspect.getdoc(kind) or "", ""]
    for member in sorted(each for each in dir(kind) if not each.startswith("_")):
        value = inspect.getattr_static(kind, member)
        function = value.fget if isinstance(value, property) else value
        if inspect.isfunction(function) and function.__module__.startswith("tracekit"):
            lines += _documented(member, function, shown=member if function is not value else "")
    return lines


def _documented(name: str, function: Callable[..., object], *, shown: str = "") -> list[str]:
    """A section on a function. shown: what stands in place of its call."""
    taken = [_parameter(each) for each in inspect.signature(function).parameters.values() if each.name != "self"]
    call = shown or f"{name}({', '.join(taken)})"
    return [f"### {name}", "", "```python", call, "```", "", inspect.getdoc(function) or "", ""]


def _parameter(parameter: inspect.Parameter) -> str:
    star = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    default = "" if parameter.default is inspect.Parameter.empty else f"={parameter.default!r}"
    return f"{star}{parameter.name}{default}"


def json_page() -> str:
    """Every key of what is printed as JSON, from the JSON Schemas. What several kinds hold has one table."""
    lines = ["# JSON keys", "", "What `--json` writes, as `tracekit export --json-schema KIND` has it too."]
    lines += ["[The report](report.md#json) says what holds for all keys.", ""]
    anchors: dict[str, str] = {}
    for kind in SCHEMAS:
        schema = json.loads(schema_text(kind))
        of = {name: json.dumps(body["properties"]) for name, body in schema["$defs"].items() if "properties" in body}
        lines += [f"## {kind}", ""]
        waiting = [("", schema)]
        while waiting:
            path, body = waiting.pop(0)
            lines += [f"### {kind}: {path}", ""] if path else []
            lines += [_cell(_sentence(body.get("description", ""))), "", "| key | type | holds |", "|---|---|---|"]
            for key, value in body["properties"].items():
                inner = value.get("items", value)
                held = ".".join(filter(None, (path, key))) + ("[]" if "items" in value else "")
                name = "" if "properties" in inner else next(iter(re.findall(r"'#/\$defs/(\w+)'", str(inner))), "")
                if "properties" in inner:
                    waiting.append((held, inner))
                elif name in of and of[name] not in anchors:
                    anchors[of[name]] = f"{kind}-" + re.sub(r"[^\w]", "", held)
                    waiting.append((held, schema["$defs"][name]))
                said = value.get("description") or schema["$defs"].get(name, {}).get("description", "")
                said += "" if key in body.get("required", body["properties"]) else " Absent where there is none."
                shape = f"[{name}](#{anchors[of[name]]})" if name in of else name
                lines += [f"| `{key}` | {_cell(_type(value, shape))} | {_cell(_sentence(said))} |"]
            lines += [""]
    return "\n".join(lines)


def _type(value: dict[str, Any], shape: str) -> str:
    """The type of a key in words. shape: what stands for a definition."""
    if "enum" in value:
        return ", ".join("null" if word is None else f"`{word}`" for word in value["enum"])
    if "const" in value:
        return f"`{value['const']}`".lower()
    if "anyOf" in value:
        return " or ".join(_type(each, shape) for each in value["anyOf"])
    if "$ref" in value:
        return shape
    kinds = value.get("type", ())
    words = [kinds] if isinstance(kinds, str) else list(kinds)
    if "array" in words and "items" in value:
        words[words.index("array")] = f"list of {_type(value['items'], shape)}"
    return " or ".join(words)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def write(folder: Path) -> None:
    """Write all pages and pictures into a folder, and nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    files, of_checks = sources(), checks()
    # On the site, a JSON Schema is the page that explains its keys.
    schemas = {f"tracekit/report/schema/{kind}-{version}.json": "json.md" for kind, version in SCHEMAS.items()}
    known = {**files, **of_checks, **schemas}
    texts = {page: linked((ROOT / source).read_text("utf-8"), source, page, known) for source, page in files.items()}
    for source, page in of_checks.items():
        texts[page] = linked(own_page(Path(source).stem) or "", source, page, known)
    texts |= {"command-reference.md": commands_page(), "python-api.md": python_page(), "json.md": json_page()}
    for page, text in texts.items():
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        (folder / page).write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "pictures", folder / "pictures")
    shutil.copy(ROOT / "docs" / "site.css", folder)


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
