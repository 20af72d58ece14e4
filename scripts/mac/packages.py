"""What Apple's own packages of Instruments say of their tables, and how that differs from what tracekit expects:
`python packages.py FOLDER [PACKAGES]`. Writes `packages.json` and `packages.md` into the folder.

The packages are those of the selected Xcode. How they lie on disk is not documented; public notes show property lists
(templates) and text (modeling rules) below `Contents`. So names and short strings are looked for in every file: facts,
and no text of Apple's. `xctrace help` says which subcommands and options there are.
"""

from __future__ import annotations

import json
import plistlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tracekit.recording.xctrace.running import run_command
from tracekit.recording.xctrace.tool import PATIENCE_S
from tracekit.testing.schemas import columns_of
from tracekit.trace.build import NEEDED_SCHEMAS
from tracekit.trace.instruments import coreml

WANTED = re.compile(r"core ?ml|neural|ane\b|gpu|metal|mps|hang|hitch|core ?ai|foundation", re.IGNORECASE)
"""Packages that tables of interest may come from, by name."""
NAME = re.compile(r"(?<![\w.-])[a-z][a-z0-9]*(?:-[a-z0-9]+)+(?![\w.-])")
"""A schema or a column."""
OURS = re.compile(r"(?:coreml|core-ai|ane|mps|hang|hitch|potential-hang|foundation)[a-z0-9-]*")
"""Schemas of interest that tracekit may not know."""
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
EVENT = re.compile(r"[A-Z][A-Za-z0-9]*(?: (?:- )?[A-Za-z0-9()]+){0,5}")
"""What an event string looks like: a few words, and no sentence."""
LONGEST = 48
MOST_BYTES = 32 << 20
OPTIONS = {
    "record": {
        *("--output", "--template", "--instrument", "--device", "--time-limit", "--attach", "--launch"),
        *("--all-processes", "--no-prompt", "--recording-options", "--show-recording-options"),
    },
    "export": {"--input", "--output", "--toc", "--xpath"},
    "import": {"--input", "--output"},
    **{name: set[str]() for name in ("help", "list", "remodel", "symbolicate", "version")},
}
"""Subcommands of `xctrace` that tracekit knows, with the options that it uses."""


def texts_in(path: Path) -> Iterator[str]:
    """Strings of a property list, or the text of a file; printable parts of any other."""
    data = path.read_bytes() if path.stat().st_size <= MOST_BYTES else b""
    try:
        yield from strings_of(plistlib.loads(data))
    except Exception:  # What is no property list raises anything.
        text = data.decode("utf-8", "replace")
        yield from STRING.findall(text) if "\0" not in text else ()
        yield re.sub(r"[^\x20-\x7e]+", "\n", text)


def strings_of(value: Any) -> Iterator[str]:
    """All strings in nested lists and dictionaries."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield str(key)
            yield from strings_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings_of(each)
    elif isinstance(value, str):
        yield value


def facts_of(package: Path) -> dict[str, Any]:
    """Names and short strings of a package, and the kinds of its files."""
    names: set[str] = set()
    events: set[str] = set()
    kinds: set[str] = set()
    for path in sorted(package.rglob("*")):
        if path.is_file() and not path.is_symlink():
            kinds.add(path.suffix or path.name)
            for text in texts_in(path):
                names.update(NAME.findall(text))
                if len(text) <= LONGEST and EVENT.fullmatch(text):
                    events.add(text)
    return {"files": sorted(kinds), "names": sorted(names), "events": sorted(events)}


def helped() -> dict[str, list[str]]:
    """Options of each subcommand of `xctrace`; none where it does not say."""

    def said(*words: str) -> str:
        done = run_command(["xcrun", "xctrace", "help", *words], PATIENCE_S)
        return done.output + done.errors

    found = re.findall(r"^\s+(?:xctrace )?([a-z]+)(?=\s|$)", said(), re.MULTILINE)
    return {name: sorted(set(re.findall(r"--[a-z][a-z-]+", said(name)))) for name in dict.fromkeys(found)}


def differences(packages: dict[str, Any], commands: dict[str, list[str]]) -> Iterator[str]:
    """Sentences: what tracekit expects and is not there, and what is there and not known."""
    names = {name for facts in packages.values() for name in facts["names"]}
    events = {coreml.fold(text) for facts in packages.values() for text in facts["events"]}
    if not packages:
        yield "no package of Instruments was found"
    elif lost := sorted(NEEDED_SCHEMAS - names):
        yield f"tables that tracekit reads and no package names: {', '.join(lost)}"
    for schema in sorted(NEEDED_SCHEMAS & names):
        try:
            columns = {column.mnemonic for column in columns_of(schema, 27)}
        except KeyError:
            continue
        if lost := sorted(name for name in columns - names if "-" in name):
            yield f"columns of {schema} that no package names: {', '.join(lost)}"
    if new := sorted(name for name in names - NEEDED_SCHEMAS if OURS.fullmatch(name)):
        yield f"names that may be tables that tracekit does not read: {', '.join(new)}"
    if packages and (lost := sorted(coreml.KNOWN_EVENTS - events)):
        yield f"event strings of Core ML that no package holds: {', '.join(lost)}"
    if new := sorted(set(commands) - OPTIONS.keys()):
        yield f"subcommands of xctrace that tracekit does not know: {', '.join(new)}"
    for name, options in OPTIONS.items():
        if commands and (lost := sorted(options - set(commands.get(name, ())))):
            yield f"options of xctrace {name} that its help does not name: {', '.join(lost)}"


def main(folder: Path, packages: Path | None = None) -> None:
    """List and compare."""
    if packages is None:
        selected = run_command(["xcode-select", "-p"], PATIENCE_S).output.strip()
        packages = Path(selected).parent / "Applications/Instruments.app/Contents/Packages"
    found = sorted(path for path in packages.glob("*.instrdst") if WANTED.search(path.stem))
    listed, commands = {path.name: facts_of(path) for path in found}, helped()
    facts = {"packages": listed, "xctrace": commands}
    (folder / "packages.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    lines = [f"- {each}" for each in differences(listed, commands)] or ["- none"]
    heading = f"## Apple's packages and `xctrace help`, against what tracekit expects ({len(found)} packages)"
    text = "\n".join([heading, "", *lines, ""])
    (folder / "packages.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
