"""Packages of Core AI, `.aimodel` and `.aimodelc`, as far as names, manifest and hash tell. Apple documents neither.

What is here was reported by two authors who took packages apart; none was seen by us. Placement is that of the compiler
for one architecture. Operations, shapes and weights are in MLIR bytecode, which is not read.
"""

from __future__ import annotations

import hashlib
import plistlib
import re
from collections.abc import Iterator
from pathlib import Path
from xml.parsers.expat import ExpatError

from tracekit.model_files import facts
from tracekit.model_files.untrusted import MAX_TEXT_BYTES, entries, mapping, parse_json, read_bytes, words

SUFFIXES = (".aimodel", ".aimodelc")
_PROGRAM = re.compile(r"main(?:-(\w{1,20}))?\.mlirb")
_REGION = re.compile(r"(.{1,200})_ANE_region_(\d{1,9})_(\d{1,9})\.bc")
_FLAGS = {"mps.fullyPlacedOnANE", "mps.noGPUActivity"}
"""Of an entry point that is wholly on the Neural Engine."""
_PREFERS = b"preferredDevice=NeuralEngine"
"""What an exporter asks for, which is not what the compiler does."""
_ATTRIBUTES = "Entry Function Attributes"


def read_package(folder: Path) -> facts.ModelFile:
    """Facts of a package. Raises `UnreadableModel`. O(files, and bytes of the graphs)."""
    metadata = folder / "metadata.json"
    described = mapping(parse_json(read_bytes(metadata, MAX_TEXT_BYTES)) if metadata.is_file() else None)
    programs = [(match[1], path) for path in sorted(folder.iterdir()) if (match := _PROGRAM.fullmatch(path.name))]
    compiled = tuple(part for name, _ in programs if name for part in _functions(folder, name))
    absent = [] if programs else ["main.mlirb"]
    absent += [f"manifest.plist of {name}" for name, _ in programs if name and _manifest(folder, name) is None]
    program = dict(programs).get(None)
    digest = folder / "main.hash"
    whole = not (program and digest.is_file()) or _hash(program) == read_bytes(digest, 1024)
    reason = "" if whole else "'main.hash' does not fit 'main.mlirb': the copy is damaged"
    state = facts.WeightState.UNKNOWN if whole else facts.WeightState.DAMAGED
    known = {key: words(described.get(key)) for key in ("producer", "assetVersion") if words(described.get(key))}
    return facts.ModelFile(
        name=folder.name.partition(".")[0],
        source=folder.name,
        form=facts.Form.CORE_AI_PACKAGE,
        kind=facts.Kind.CORE_AI,
        specification_version=None,
        functions=(facts.Function("main", (), (), ()),),
        weights=facts.Weights(state, None, reason=reason or "weights of a Core AI package are not read"),
        metadata=facts.Metadata(user_defined=known),
        absent=tuple(absent),
        compiled=compiled,
    )


def _hash(path: Path) -> bytes:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def _delegates(folder: Path, architecture: str) -> Path:
    return folder / f"main-{architecture}-delegates"


def _functions(folder: Path, architecture: str) -> Iterator[facts.CompiledFunction]:
    """Functions of a compiled architecture, with what was placed on the Neural Engine."""
    inside = list(_delegates(folder, architecture).rglob("*"))
    # A region is a folder, and files of that name lie inside it.
    found = {match.groups() for path in inside if path.is_dir() and (match := _REGION.fullmatch(path.name))}
    flags = dict(_flags(_manifest(folder, architecture)))
    graphs = [path for path in inside if path.suffix == ".mpsgraph" and path.is_file()]
    gpu = any(b"_GPU_region_" in read_bytes(path, MAX_TEXT_BYTES) for path in graphs)
    program = folder / f"main-{architecture}.mlirb"
    is_small = program.is_file() and program.stat().st_size <= MAX_TEXT_BYTES
    asked = is_small and _PREFERS in read_bytes(program, MAX_TEXT_BYTES)
    wholly = bool(flags) and all(held >= _FLAGS for held in flags.values()) and not gpu
    for name in sorted({function for function, _, _ in found} | set(flags)) or ["main"]:
        regions = sum(function == name for function, _, _ in found)
        yield facts.CompiledFunction(architecture, name, regions, wholly=wholly and regions > 0, asked=asked)


def _manifest(folder: Path, architecture: str) -> object:
    """What the manifest of an architecture holds; None where there is none, or where it is damaged."""
    paths = sorted(_delegates(folder, architecture).rglob("manifest.plist"))
    try:
        return plistlib.loads(read_bytes(paths[0], MAX_TEXT_BYTES)) if paths else None
    except (plistlib.InvalidFileException, ExpatError, ValueError, RecursionError, OverflowError):
        return None


def _flags(value: object, depth: int = 0) -> Iterator[tuple[str, set[str]]]:
    """Entry points with their flags, wherever in the manifest they are."""
    for key, held in mapping(value).items() if depth < 8 else ():
        if key == _ATTRIBUTES:
            yield from ((str(name), set(map(str, entries(flags)))) for name, flags in mapping(held).items())
        else:
            yield from _flags(held, depth + 1)
