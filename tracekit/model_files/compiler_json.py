"""JSON that Apple's compilers print of a model.

That of `xcrun coremlcompiler metadata` is also in compiled models (`metadata.json`). Numbers and flags are texts there.
Source of the keys: `mlmodel/src/DataType.cpp` of coremltools.

Of `xcrun coreai-build inspect MODEL --json` Apple documents neither keys nor values, and no output of it is published.
Keys and types are those that public tools read from it (`summary.functions`, `summary.operationDistribution`, types
such as `NDArray (Float16, 1 × ? × 64)`): a guess, so that anything else in it is passed over.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tracekit.model_files import facts
from tracekit.model_files.conversions import precision_conversions
from tracekit.model_files.facts import FeatureKind
from tracekit.model_files.from_specification import MAIN
from tracekit.model_files.untrusted import UnreadableModel, entries, mapping, parse_json, quote, whole_number, words
from tracekit.model_files.versions import opset_name
from tracekit.model_files.words import kind_words, snake

_KIND = re.compile(r"MLModelType_(\w+)")
_WORDS = re.compile(r"\w+")
_FEATURES = {
    "MultiArray": FeatureKind.ARRAY,
    "Image": FeatureKind.IMAGE,
    "State": FeatureKind.STATE,
    "Dictionary": FeatureKind.DICTIONARY,
    "Sequence": FeatureKind.SEQUENCE,
    "Int64": FeatureKind.NUMBER,
    "Double": FeatureKind.NUMBER,
    "String": FeatureKind.STRING,
}
_ELEMENTS = {"Dictionary": "keyType", "Sequence": "valueType", "Int64": "type", "Double": "type", "String": "type"}
"""What states the type of the elements; `dataType` for the others."""
_LONGEST = 100_000
"""Characters of a shape; enumerated ones may be many."""
_ARRAY = re.compile(r"NDArray \((\w{1,40}), ([^()]{0,500})\)")
_UNLISTED = facts.Weights(
    facts.WeightState.UNKNOWN, None, reason="weights of a Core AI model are not listed in this JSON"
)


def read_json(data: bytes, path: Path) -> facts.ModelFile:
    """Facts from what either compiler printed. Raises `UnreadableModel`."""
    printed = _first(data, path)
    summary = mapping(mapping(printed).get("summary"))
    functions = [entry for entry in entries(summary.get("functions")) if isinstance(entry, Mapping)]
    if any("inputs" in function for function in functions):
        return _core_ai_model(functions, summary.get("operationDistribution"), path)
    document = _checked(printed, path)
    name = words(document.get("generatedClassName")) or path.stem
    return model_of(document, name, path.name, facts.Form.COMPILER_JSON)


def read_metadata(data: bytes, path: Path) -> Mapping[str, Any]:
    """What `coremlcompiler` says of a model, the one object of its list. Raises `UnreadableModel`."""
    return _checked(_first(data, path), path)


def _first(data: bytes, path: Path) -> object:
    """The document, or the first one of a list."""
    document = parse_json(data)
    if document is None:
        raise UnreadableModel(f"{quote(path)} is truncated or damaged: it is not complete JSON")
    return document[0] if isinstance(document, list) and document else document


def _checked(document: object, path: Path) -> Mapping[str, Any]:
    unknown = f"{quote(path)} is JSON, but neither what `xcrun coremlcompiler metadata` prints nor a performance report"
    if not isinstance(document, Mapping):
        raise UnreadableModel(unknown)
    if not any(key in document for key in ("metadataOutputVersion", "specificationVersion", "inputSchema")):
        keys = ", ".join(sorted(map(str, document))[:5])
        raise UnreadableModel(f"{unknown} (keys found: {keys or 'none'})")
    return document


def model_of(document: Mapping[str, Any], name: str, source: str, form: facts.Form) -> facts.ModelFile:
    """Facts from the JSON of `coremlcompiler` alone."""
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
    named = (
        _function(entry, words(entry.get("name")) or f"function {number}") for number, entry in enumerate(listed, 1)
    )
    return tuple(sorted(named, key=lambda each: (each.name != default, each.name)))


def _function(document: Mapping[str, Any], name: str) -> facts.Function:
    inputs, outputs = _features(document.get("inputSchema")), _features(document.get("outputSchema"))
    counts: Counter[str] = Counter()
    opsets = []
    for key, value in mapping(document.get("mlProgramOperationTypeHistogram")).items():
        opset, _, operation = str(key).rpartition(".")
        opsets.append(opset)
        counts[snake(operation)] += max(whole_number(value) or 0, 0)
    computed = Counter({key: count for key, count in counts.items() if not key.startswith(facts.COMPRESSED)})
    precision = words(document.get("computePrecision"))
    floats = tuple(word for word in _WORDS.findall(precision) if word in facts.FLOATS) or None
    return facts.Function(
        name=name,
        inputs=inputs,
        outputs=outputs,
        states=_features(document.get("stateSchema")),
        opset=max((opset_name(opset) for opset in opsets if opset.startswith("Ios")), default=None),
        counts=facts.by_count(computed),
        precision=floats,
        conversions=precision_conversions(inputs, outputs, floats) if floats else None,
    )


def _features(value: object) -> tuple[facts.Feature, ...]:
    """The features of a schema; whatever is no item is passed over."""
    return tuple(_feature(name, entry) for name, entry in _named(value))


def _named(value: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a list that have a name."""
    for entry in map(mapping, entries(value)):
        if name := words(entry.get("name")):
            yield name, entry


def _feature(name: str, entry: Mapping[str, Any]) -> facts.Feature:
    stated = words(entry.get("type"))
    kind = _FEATURES.get(stated, FeatureKind.UNKNOWN)
    element = words(entry.get(_ELEMENTS.get(stated, "dataType"))) or None
    color = shape = None
    if kind in (FeatureKind.ARRAY, FeatureKind.STATE):
        sizes, choices = tuple(_numbers(entry.get("shape"))), map(tuple, _rows(entry.get("enumeratedShapes")))
        shape = facts.Shape.of_array(sizes, tuple(choices), _ranges(entry.get("shapeRange")))
    elif kind is FeatureKind.IMAGE:
        color = words(entry.get("colorspace")) or None
        element = "Float16" if color == "Grayscale16Half" else "UInt8"
        shape = _image_shape(entry)
    optional = entry.get("isOptional") in ("1", 1, True)
    return facts.Feature(name, kind, element, shape, color, optional, words(entry.get("shortDescription")))


def _image_shape(entry: Mapping[str, Any]) -> facts.Shape | None:
    height, width = whole_number(entry.get("height")), whole_number(entry.get("width"))
    if height is None or width is None:
        return None
    # Sizes of images are written as width and height.
    choices = tuple((row[1], row[0]) for row in _rows(entry.get("enumeratedSizes")) if len(row) == 2)
    return facts.Shape((height, width), choices, _ranges(entry.get("sizeRange"))[::-1], facts.IMAGE_AXES)


def _ranges(value: object) -> tuple[facts.SizeRange, ...]:
    return tuple(facts.SizeRange.of(*row) for row in _rows(value) if len(row) == 2)


def _as_list(value: object) -> list[Any]:
    """A list, also one written as text."""
    return entries(parse_json(value) if isinstance(value, str) and len(value) <= _LONGEST else value)


def _numbers(value: object) -> list[int]:
    numbers = [whole_number(entry) for entry in _as_list(value)]
    return [entry for entry in numbers if entry is not None] if None not in numbers else []


def _rows(value: object) -> list[list[int]]:
    return [row for entry in _as_list(value) if (row := _numbers(entry))]


def _core_ai_model(listed: list[Mapping[str, Any]], distribution: object, path: Path) -> facts.ModelFile:
    """Facts of a Core AI model. O(functions and operations)."""
    counts: Counter[str] = Counter()
    # Operations are counted for all functions together.
    for name, entry in _named(distribution) if len(listed) == 1 else ():
        counts[name] += max(whole_number(entry.get("count")) or 0, 0)
    functions = tuple(
        facts.Function(
            words(entry.get("name")) or f"function {number}",
            _core_ai_features(entry.get("inputs"), FeatureKind.ARRAY),
            _core_ai_features(entry.get("outputs"), FeatureKind.ARRAY),
            _core_ai_features(entry.get("states"), FeatureKind.STATE),
            counts=facts.by_count(counts),
        )
        for number, entry in enumerate(listed, 1)
    )
    form, kind = facts.Form.CORE_AI, facts.Kind.CORE_AI
    return facts.ModelFile(path.stem, path.name, form, kind, None, functions, _UNLISTED, facts.Metadata())


def _core_ai_features(value: object, kind: FeatureKind) -> tuple[facts.Feature, ...]:
    return tuple(_core_ai_feature(name, words(entry.get("type")), kind) for name, entry in _named(value))


def _core_ai_feature(name: str, text: str, kind: FeatureKind) -> facts.Feature:
    match = _ARRAY.fullmatch(text)
    if match is None:
        return facts.Feature(name, FeatureKind.UNKNOWN, None, None)
    sizes = [size.strip() for size in re.split("[×x]", match[2]) if size.strip()]
    shape = facts.Shape(tuple(whole_number(size) for size in sizes)) if sizes else None
    return facts.Feature(name, kind, match[1], shape)
