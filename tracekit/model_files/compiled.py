"""Compiled models (`.mlmodelc`) and the compiler's JSON, without coremltools."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tracekit.model_files import facts
from tracekit.model_files.conversions import precision_conversions
from tracekit.model_files.core_ai import core_ai_model, is_core_ai
from tracekit.model_files.failures import MAX_TEXT_BYTES, UnreadableModel, quote, read_bytes
from tracekit.model_files.from_specification import MAIN, kind_words, program_function, weights_of_stages
from tracekit.model_files.json_values import entries, mapping, parse_json, whole_number, words
from tracekit.model_files.mil_text import functions_of
from tracekit.model_files.schema_items import items
from tracekit.model_files.versions import opset_name
from tracekit.model_files.weights import weights_of_all
from tracekit.model_files.words import snake

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


def read_compiled(folder: Path, depth: int = 0) -> facts.ModelFile:
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
    model = replace(model_of(document, folder.stem, folder.name, facts.Form.COMPILED), absent=absent)
    if (folder / PROGRAM).is_file():
        model = _with_program(model, read_bytes(folder / PROGRAM, MAX_TEXT_BYTES), folder)
    stages = sorted((int(match[1]), entry) for entry in folder.iterdir() if (match := _STAGE.fullmatch(entry.name)))
    if stages and model.kind == facts.Kind.PIPELINE and depth < _DEEPEST:
        read = tuple(read_compiled(entry, depth + 1) for _, entry in stages if entry.is_dir())
        model = replace(model, stages=read, weights=weights_of_stages([stage.weights for stage in read]))
    return model


def read_json(data: bytes, path: Path) -> facts.ModelFile:
    """Facts from what `xcrun coremlcompiler metadata` or `coreai-build inspect` printed. Raises `UnreadableModel`."""
    printed = _document(data, path)
    if printed is not None and is_core_ai(printed):
        return core_ai_model(printed, path.stem, path.name)
    document = _first(data, path)
    name = words(document.get("generatedClassName")) or path.stem
    return model_of(document, name, path.name, facts.Form.COMPILER_JSON)


def _document(data: bytes, path: Path) -> Mapping[str, Any] | None:
    """The object, or the first one of a list; None where there is none."""
    document = parse_json(data)
    if document is None:
        raise UnreadableModel(f"{quote(path)} is truncated or damaged: it is not complete JSON")
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


def model_of(document: Mapping[str, Any], name: str, source: str, form: facts.Form) -> facts.ModelFile:
    """Facts from the compiler's JSON alone."""
    kind_document = mapping(document.get("modelType"))
    match = _KIND.fullmatch(words(kind_document.get("name")))
    stages = tuple(
        # Of a stage only the kind is known.
        model_of({"modelType": {"name": entry.get("name")}}, f"stage {number}", source, form)
        for number, entry in enumerate(entries(kind_document.get("structure")), 1)
        if isinstance(entry, Mapping)
    )
    storage = words(document.get("storagePrecision")) or None
    return facts.ModelFile(
        name=name,
        source=source,
        form=form,
        kind=kind_words(
            match[1] if match else "mlProgram" if "mlProgramOperationTypeHistogram" in document else "unknown"
        ),
        specification_version=whole_number(document.get("specificationVersion")),
        functions=_functions(document),
        weights=facts.Weights(facts.WeightState.UNKNOWN, None, None, precision=storage),
        metadata=facts.Metadata(
            author=words(document.get("author")),
            description=words(document.get("shortDescription")),
            license=words(document.get("license")),
            version=words(document.get("version")),
            user_defined=dict(_texts(document.get("userDefinedMetadata"))),
        ),
        stages=stages,
        updatable=document.get("isUpdatable") in ("1", 1, True),
        availability=_texts(document.get("availability")),
    )


def _texts(value: object) -> tuple[tuple[str, str], ...]:
    """Keys and texts of an object, sorted."""
    return tuple(sorted((str(key), words(text)) for key, text in mapping(value).items()))


def _functions(document: Mapping[str, Any]) -> tuple[facts.Function, ...]:
    """Functions, the default one first. With several, the default one also stands at the top."""
    listed = [entry for entry in entries(document.get("functions")) if isinstance(entry, Mapping)]
    default = words(document.get("defaultFunctionName"))
    if not listed:
        return (_function(document, default or MAIN),)
    named = [
        _function(entry, words(entry.get("name")) or f"function {index + 1}") for index, entry in enumerate(listed)
    ]
    return tuple(sorted(named, key=lambda each: (each.name != default, each.name)))


def _function(document: Mapping[str, Any], name: str) -> facts.Function:
    inputs, outputs = items(document.get("inputSchema")), items(document.get("outputSchema"))
    counts: Counter[str] = Counter()
    opsets = []
    for key, value in mapping(document.get("mlProgramOperationTypeHistogram")).items():
        opset, _, operation = str(key).rpartition(".")
        opsets.append(opset)
        counts[snake(operation)] += max(whole_number(value) or 0, 0)
    computed = facts.by_count(
        Counter({key: count for key, count in counts.items() if not key.startswith(facts.COMPRESSED)})
    )
    precision = words(document.get("computePrecision"))
    floats = tuple(word for word in _WORDS.findall(precision) if word in facts.FLOATS) or None
    return facts.Function(
        name=name,
        inputs=inputs,
        outputs=outputs,
        states=items(document.get("stateSchema")),
        opset=max((opset_name(opset) for opset in opsets if opset.startswith("Ios")), default=None),
        counts=computed,
        precision=floats,
        conversions=(*precision_conversions(inputs, "input", floats), *precision_conversions(outputs, "output", floats))
        if floats
        else None,
    )


def _with_program(model: facts.ModelFile, data: bytes, folder: Path) -> facts.ModelFile:
    """The model with what its text says: operations, weights, conversions."""
    try:
        source = data.decode("utf-8")
    except UnicodeDecodeError:
        raise UnreadableModel(f"{quote(folder / PROGRAM)} is damaged: it is not text") from None
    described = {function.name: function for function in model.functions}
    functions = []
    for function in functions_of(source):
        known = described.get(function.name, facts.Function(function.name, (), (), ()))
        interface = (known.inputs, known.outputs, known.states)
        opset, operations = opset_name(function.opset or ""), function.operations or ()
        functions.append(program_function(function.name, interface, opset, function.parameters, operations))
    functions.sort(key=lambda each: each.name != model.main.name)
    weights = replace(weights_of_all(functions, folder), precision=model.weights.precision)
    return replace(model, kind=facts.Kind.ML_PROGRAM, functions=tuple(functions), weights=weights)
