"""Compiled models (`.mlmodelc`) and the compiler's JSON, without coremltools."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tracekit.model_files.conversions import implied_by_precision
from tracekit.model_files.core_ai import core_ai_model, is_core_ai
from tracekit.model_files.facts import (
    COMPRESSED,
    FLOATS,
    Form,
    Function,
    Kind,
    Metadata,
    ModelFile,
    Weights,
    WeightState,
    by_count,
)
from tracekit.model_files.failures import MAX_TEXT_BYTES, UnreadableModel, quote, read_bytes
from tracekit.model_files.from_specification import MAIN, kind_words, program_function, weights_of_stages
from tracekit.model_files.mil_text import functions_of
from tracekit.model_files.schema_items import items, text, whole_number
from tracekit.model_files.versions import opset_name
from tracekit.model_files.weights import weights_of_all
from tracekit.model_files.words import snake

if TYPE_CHECKING:
    from pathlib import Path

METADATA = "metadata.json"
PROGRAM = "model.mil"
NETWORK = "model.espresso.net"
DATA = "coremldata.bin"
"""The compiler writes it into every compiled model, whatever its kind."""
_STAGE = re.compile(r"model(\d{1,4})")
_KIND = re.compile(r"MLModelType_(\w+)")
_WORDS = re.compile(r"\w+")
_DEEPEST = 4
"""Pipelines in pipelines."""


def read_compiled(folder: Path, depth: int = 0) -> ModelFile:
    """Facts of a `.mlmodelc` folder. Raises `UnreadableModel`."""
    if not (folder / METADATA).is_file() and not (folder / PROGRAM).is_file():
        network = NETWORK if (folder / NETWORK).is_file() else ""
        if network:
            raise UnreadableModel(
                f"{quote(folder)} is a compiled neural network without 'metadata.json'; inspect the .mlmodel it was "
                "compiled from, or the output of `xcrun coremlcompiler metadata`"
            )
        raise UnreadableModel(f"{quote(folder)} has neither 'metadata.json' nor 'model.mil'; it is incomplete")
    document: Mapping[str, Any] = {}
    if (folder / METADATA).is_file():
        document = _first(read_bytes(folder / METADATA, MAX_TEXT_BYTES), folder / METADATA)
    absent = () if (folder / DATA).is_file() else (DATA,)
    model = replace(model_of(document, folder.stem, folder.name, Form.COMPILED), absent=absent)
    if (folder / PROGRAM).is_file():
        model = _with_program(model, read_bytes(folder / PROGRAM, MAX_TEXT_BYTES), folder)
    stages = sorted((int(match[1]), entry) for entry in folder.iterdir() if (match := _STAGE.fullmatch(entry.name)))
    if stages and model.kind == Kind.PIPELINE and depth < _DEEPEST:
        read = tuple(read_compiled(entry, depth + 1) for _, entry in stages if entry.is_dir())
        model = replace(model, stages=read, weights=weights_of_stages([stage.weights for stage in read]))
    return model


def read_json(data: bytes, path: Path) -> ModelFile:
    """Facts from what `xcrun coremlcompiler metadata` or `coreai-build inspect` printed. Raises `UnreadableModel`."""
    parsed = _document(data, path)
    if parsed is not None and is_core_ai(parsed):
        return core_ai_model(parsed, path.stem, path.name)
    document = _first(data, path)
    name = text(document.get("generatedClassName")) or path.stem
    return model_of(document, name, path.name, Form.COMPILER_JSON)


def _document(data: bytes, path: Path) -> Mapping[str, Any] | None:
    """The object, or the first one of a list; None where there is none."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise UnreadableModel(f"{quote(path)} is truncated or damaged: it is not complete JSON") from None
    if isinstance(document, list) and document:
        document = document[0]
    return document if isinstance(document, Mapping) else None


def _first(data: bytes, path: Path) -> Mapping[str, Any]:
    """The one object of the compiler's list."""
    document = _document(data, path)
    unknown = f"{quote(path)} is JSON, but neither what `xcrun coremlcompiler metadata` prints nor a performance report"
    if document is None:
        raise UnreadableModel(unknown)
    if not any(key in document for key in ("metadataOutputVersion", "specificationVersion", "inputSchema")):
        keys = ", ".join(sorted(map(str, document))[:5])
        raise UnreadableModel(f"{unknown} (keys found: {keys or 'none'})")
    return document


def model_of(document: Mapping[str, Any], name: str, source: str, form: Form) -> ModelFile:
    """Facts from the compiler's JSON alone."""
    kind_document = document.get("modelType")
    kind_document = kind_document if isinstance(kind_document, Mapping) else {}
    match = _KIND.fullmatch(text(kind_document.get("name")))
    structure = kind_document.get("structure")
    stages = tuple(
        # Of a stage only the kind is known.
        model_of({"modelType": {"name": entry.get("name")}}, f"stage {number}", source, form)
        for number, entry in enumerate(structure if isinstance(structure, list) else (), 1)
        if isinstance(entry, Mapping)
    )
    storage = text(document.get("storagePrecision")) or None
    metadata = document.get("userDefinedMetadata")
    pairs = metadata.items() if isinstance(metadata, Mapping) else ()
    available = document.get("availability")
    return ModelFile(
        name=name,
        source=source,
        form=form,
        kind=kind_words(
            match[1] if match else "mlProgram" if "mlProgramOperationTypeHistogram" in document else "unknown"
        ),
        specification_version=whole_number(document.get("specificationVersion")),
        functions=_functions(document),
        weights=Weights(WeightState.UNKNOWN, None, None, precision=storage),
        metadata=Metadata(
            author=text(document.get("author")),
            description=text(document.get("shortDescription")),
            license=text(document.get("license")),
            version=text(document.get("version")),
            user_defined=dict(sorted((str(key), text(value)) for key, value in pairs)),
        ),
        stages=stages,
        updatable=document.get("isUpdatable") in ("1", 1, True),
        availability=tuple(sorted((str(key), text(value)) for key, value in available.items()))
        if isinstance(available, Mapping)
        else (),
    )


def _functions(document: Mapping[str, Any]) -> tuple[Function, ...]:
    """Functions, the default one first. With several, the default one also stands at the top."""
    listed = document.get("functions")
    entries = [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []
    default = text(document.get("defaultFunctionName"))
    if not entries:
        return (_function(document, default or MAIN),)
    named = [
        _function(entry, text(entry.get("name")) or f"function {index + 1}") for index, entry in enumerate(entries)
    ]
    return tuple(sorted(named, key=lambda each: (each.name != default, each.name)))


def _function(document: Mapping[str, Any], name: str) -> Function:
    inputs, outputs = items(document.get("inputSchema")), items(document.get("outputSchema"))
    histogram = document.get("mlProgramOperationTypeHistogram")
    counts: Counter[str] = Counter()
    opsets = []
    for key, value in histogram.items() if isinstance(histogram, Mapping) else ():
        opset, _, operation = str(key).rpartition(".")
        opsets.append(opset)
        counts[snake(operation)] += max(whole_number(value) or 0, 0)
    computed = by_count(Counter({key: count for key, count in counts.items() if not key.startswith(COMPRESSED)}))
    precision = text(document.get("computePrecision"))
    floats = tuple(word for word in _WORDS.findall(precision) if word in FLOATS) or None
    return Function(
        name=name,
        inputs=inputs,
        outputs=outputs,
        states=items(document.get("stateSchema")),
        opset=max((opset_name(opset) for opset in opsets if opset.startswith("Ios")), default=None),
        counts=computed,
        precision=floats,
        conversions=(*implied_by_precision(inputs, "input", floats), *implied_by_precision(outputs, "output", floats))
        if floats
        else None,
    )


def _with_program(model: ModelFile, data: bytes, folder: Path) -> ModelFile:
    """The model with what its text says: operations, weights, conversions."""
    try:
        source = data.decode("utf-8")
    except UnicodeDecodeError:
        raise UnreadableModel(f"{quote(folder / PROGRAM)} is damaged: it is not text") from None
    described = {function.name: function for function in model.functions}
    functions = []
    for function in functions_of(source):
        known = described.get(function.name, Function(function.name, (), (), ()))
        interface = (known.inputs, known.outputs, known.states)
        functions.append(
            program_function(
                function.name, interface, opset_name(function.opset), function.parameters, function.operations
            )
        )
    functions.sort(key=lambda each: each.name != model.main.name)
    weights = replace(weights_of_all(functions, folder), precision=model.weights.precision)
    return replace(model, kind=Kind.ML_PROGRAM, functions=tuple(functions), weights=weights)
