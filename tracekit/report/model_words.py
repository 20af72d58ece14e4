"""The facts of a model in words, the same in every readable format, and those in which two models differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tracekit.model_files.facts import Feature, FeatureKind, Form, Kind, ModelFile
from tracekit.model_files.versions import NEWEST, release_of
from tracekit.model_files.words import allowed_shapes, default_shape
from tracekit.report.model_report import FunctionInfo, ModelChange, ModelInfo, ModelReport, WeightGroup, WeightsInfo
from tracekit.units import format_bytes, format_count

FUNCTIONS, FEATURES, OPERATIONS, GROUPS = 4, 8, 6, 3
"""Most entries of each on a card."""


def systems(model: ModelInfo | ModelFile) -> str:
    """`specification 7 (iOS 16, macOS 13 or later)`."""
    version = model.specification_version
    if model.kind == Kind.CORE_AI:
        return (
            "its form is known from what others reported"
            if model.form == Form.CORE_AI_PACKAGE
            else ("read by a form that is a guess")
        )
    if version is None:
        return "unknown specification version"
    release = release_of(version)
    if release is None:
        return f"specification {version} (newer than this tool knows: {NEWEST})"
    return f"specification {version} ({release.words} or later)"


def first_systems(model: ModelInfo) -> str:
    """`iOS 16, macOS 13`; empty where it is not known."""
    release = release_of(model.specification_version or 0)
    return release.words if release else ""


def context(model: ModelInfo | ModelFile) -> str:
    """One line: which file, what it is, where it loads."""
    size = format_bytes(model.bytes) if model.bytes is not None else None
    stages = f" of {format_count(len(model.stages), 'stage')}" if model.stages else ""
    return " · ".join(filter(None, (model.source, f"{model.kind}{stages}", size, systems(model))))


def feature_type(feature: Feature) -> str:
    """`Float32`, `RGB image, 8-bit`, `Int64`, `dictionary, String keys`, ..."""
    match feature.kind:
        case FeatureKind.IMAGE:
            depth = "Float16" if feature.element == "Float16" else "8-bit"
            if not feature.color_space:
                return f"image, {depth}, unknown color space"
            return f"{feature.color_space} image, {depth}"
        case FeatureKind.ARRAY | FeatureKind.STATE:
            return feature.element or "unknown type"
        case FeatureKind.UNKNOWN:
            return "unknown type"
        case FeatureKind.DICTIONARY:
            return f"dictionary, {feature.element} keys" if feature.element else "dictionary"
        case FeatureKind.SEQUENCE:
            return f"sequence of {feature.element}" if feature.element else "sequence"
        case _:
            return feature.element or str(feature.kind)


def feature_shape(feature: Feature) -> str:
    """Default shape, and which others are allowed. The file may give none, which does not mean a scalar."""
    if feature.kind not in (FeatureKind.ARRAY, FeatureKind.STATE, FeatureKind.IMAGE):
        return ""
    if feature.shape is None:
        return "no shape given"
    more = ("range: " if feature.shape.ranges else "listed: ") + allowed_shapes(feature.shape)
    return f"{default_shape(feature.shape)}{f', {more}' if feature.shape.flexible else ''}"


def computes(function: FunctionInfo) -> str:
    """Types that a function computes with, in a sentence; empty where the file does not say it, as for networks."""
    if function.compute_precision is None:
        return ""
    if not function.compute_precision:
        return "Computes no floats."
    first, *others = function.compute_precision
    return f"Computes in {first}, in part {', '.join(others)}." if others else f"Computes in {first}."


def histogram(operations: Mapping[str, int], room: int) -> str:
    """The most frequent operations, and how many more types there are."""
    first = list(operations.items())[:room]
    words = ", ".join(f"{count:,} {name}" for name, count in first)
    more = f", {format_count(len(operations) - room, 'more type')}" if len(operations) > room else ""
    return f"{words}{more}"


def weight_size(weights: WeightsInfo) -> str:
    """Size and number of all weights, or what is wrong with them."""
    if weights.state in ("missing", "a Git LFS pointer", "damaged"):
        expected = f", {format_bytes(weights.bytes)} expected" if weights.bytes is not None else ""
        return f"{weights.state}{expected}: {weights.reason}"
    if weights.groups is None:
        if weights.reason:
            return weights.reason
        precision = f"; stored as {weights.storage_precision}" if weights.storage_precision else ""
        return f"not listed in this file{precision}"
    if not weights.groups:
        return "none"
    return f"{format_bytes(weights.bytes or 0)}, {format_count(weights.parameters or 0, 'parameter')}, {weights.state}"


def weight_group(group: WeightGroup) -> str:
    """`Float16, not compressed`, `4-bit palettized, per group`."""
    if not group.technique:
        return f"{group.stored or 'unknown type'}, not compressed"
    bits = f"{group.bits}-bit " if group.bits else ""
    vectors = f", vectors of {group.vector}" if group.vector > 1 else ""
    shared = f", {group.granularity}" if group.granularity else ""
    return f"{bits}{' and '.join(group.technique)}{vectors}{shared}"


def card(model: ModelInfo) -> Iterator[tuple[str, str]]:
    """Facts of a model for a card: name and value of each."""
    for function in model.functions[:FUNCTIONS]:
        if len(model.functions) > 1:
            yield "function", function.name
        roles = (("input", function.inputs), ("output", function.outputs), ("state", function.states))
        for role, entries in roles:
            for entry in entries[:FEATURES]:
                words = ", ".join(filter(None, (entry.name, feature_type(entry), feature_shape(entry))))
                yield role, f"{words}{', optional' if entry.optional else ''}"
            if len(entries) > FEATURES:
                yield "", format_count(len(entries) - FEATURES, f"more {role}")
        facts = "; ".join(filter(None, (computes(function).removeprefix("Computes in ").rstrip("."), function.opset)))
        if facts:
            yield "computes in", facts
        total = sum(function.operations.values())
        if total:
            yield "operations", f"{total:,}: {histogram(function.operations, OPERATIONS)}"
    if len(model.functions) > FUNCTIONS:
        yield "", format_count(len(model.functions) - FUNCTIONS, "more function")
    for stage in model.stages:
        yield "stage", f"{stage.name}, {stage.kind}"
    yield "weights", weight_size(model.weights)
    for group in (model.weights.groups or ())[:GROUPS]:
        yield "", f"{format_bytes(group.bytes)}: {weight_group(group)}"
    if model.weights.savings:
        saved = (f"{format_bytes(entry.saved_bytes)} ({entry.technique})" for entry in model.weights.savings)
        yield "could save", f"about {', '.join(saved)}"
    if model.custom_layers:
        yield "custom layers", ", ".join(model.custom_layers)


def changes_of(before: ModelReport, after: ModelReport) -> tuple[ModelChange, ...]:
    """Facts that differ, in the order in which they matter. O(facts)."""
    old, new = (dict(_comparable(report)) for report in (before, after))
    return tuple(
        ModelChange(name, old.get(name, ""), new.get(name, ""))
        for name in dict.fromkeys((*old, *new))
        if old.get(name) != new.get(name)
    )


def _comparable(report: ModelReport) -> Iterator[tuple[str, str]]:
    model = report.model
    for info in report.neural_engine:
        yield f"Neural Engine{f', {info.function}' if len(report.neural_engine) > 1 else ''}", info.verdict
    yield "loads on", systems(model)
    yield "size", format_bytes(model.bytes) if model.bytes is not None else "unknown"
    for function in model.functions:
        of = f" of {function.name}" if len(model.functions) > 1 else ""
        for role in ("inputs", "outputs", "states"):
            for each in getattr(function, role):
                shape = feature_shape(each)
                yield f"{role[:-1]} {each.name}{of}", ", ".join(filter(None, (feature_type(each), shape)))
        yield f"computes{of} in", ", ".join(function.compute_precision or ()) or "not known"
        yield from ((f"{kind} operations{of}", f"{count:,}") for kind, count in function.operations.items())
    yield "weights", weight_size(model.weights)
    stored = (weight_group(group) for group in model.weights.groups or ())
    yield "stored as", "; ".join(dict.fromkeys(stored))
    yield "findings", ", ".join(report.found) or "none"
