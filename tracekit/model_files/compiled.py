"""Compiled models (`.mlmodelc`), without coremltools: the JSON of the compiler, and `model.mil`, the text of a program.

The text has one statement a line:

    func main<ios16>(tensor<fp16, [1, 10]> x) {
            tensor<fp16, [1, 10]> y = mul(x = x, y = y)[name = tensor<string, []>("op_3")];
        } -> (y);

Only what the facts need is read; a statement of another form is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tracekit.model_files import facts
from tracekit.model_files.compiler_json import model_of, read_metadata
from tracekit.model_files.conversions import with_operations
from tracekit.model_files.facts import Operation, Stored, Value
from tracekit.model_files.from_specification import weights_of_stages
from tracekit.model_files.operations import MOST_VALUES
from tracekit.model_files.untrusted import MAX_OPERATIONS, MAX_TEXT_BYTES, UnreadableModel, quote, read_bytes
from tracekit.model_files.versions import opset_name
from tracekit.model_files.weights import weights_of_all

METADATA = "metadata.json"
PROGRAM = "model.mil"
NETWORK = "model.espresso.net"
DATA = "coremldata.bin"
"""The compiler writes it into every compiled model, whatever its kind."""
_STAGE = re.compile(r"model(\d{1,4})")
_DEEPEST = 4
"""Pipelines in pipelines."""
TYPES = {
    "fp16": "Float16",
    "fp32": "Float32",
    "fp64": "Double",
    "bf16": "BFloat16",
    "bool": "Bool",
    "string": "String",
    "fp8e4m3fn": "Float8E4M3FN",
    "fp8e5m2": "Float8E5M2",
} | {f"{sign}int{bits}": f"{sign.upper()}Int{bits}" for sign in ("", "u") for bits in (1, 2, 3, 4, 6, 8, 16, 32, 64)}
"""Element types as the text writes them."""

_TYPE = re.compile(r"(?:state<)?(?:tensor<(\w+),\s*\[([^\]]*)\]>>?|(\w+))\s+(\w+)")
_FUNCTION = re.compile(r"\s*func\s+([\w.$-]{1,200})\s*<(\w{1,40})>\s*\((.*)\)\s*\{\s*")
_END = re.compile(r"\s*\}\s*->\s*\(.*\);?\s*")
_STATEMENT = re.compile(r"\s*((?:state<)?(?:tensor<|\w).*?)\s=\s*(\w+)\((.*)")
_ARGUMENT = re.compile(r"(\w+) = (\([^()]*\)|[A-Za-z_][\w.]*(?![\w.<(]))")
_STORED = re.compile(
    r"(\w+) = tensor<(\w+), \[([\d, ]*)\]>\((?:BLOBFILE\(path = \w+[^\"]{0,20}\"([^\"]{1,300})\"\), "
    r"offset = \w+[^(]{0,20}\((\d{1,18})\)\)|\[([-\d, ]{1,200})\]\))?"
)
_NAME = re.compile(r"name = (?:tensor<string, \[\]>|string)\(\"([^\"]{0,500})\"\)")
_LONGEST = 1_000_000
"""Characters of a statement; constants may be written out."""


def read_compiled(folder: Path, depth: int = 0) -> facts.ModelFile:
    """Facts of a `.mlmodelc` folder. Raises `UnreadableModel`."""
    metadata, program = folder / METADATA, folder / PROGRAM
    if not metadata.is_file() and not program.is_file():
        if (folder / NETWORK).is_file():
            raise UnreadableModel(
                f"{quote(folder)} is a compiled neural network without 'metadata.json'; inspect the .mlmodel it was "
                "compiled from, or the output of `xcrun coremlcompiler metadata`"
            )
        raise UnreadableModel(f"{quote(folder)} has neither 'metadata.json' nor 'model.mil'; it is incomplete")
    document = read_metadata(read_bytes(metadata, MAX_TEXT_BYTES), metadata) if metadata.is_file() else {}
    absent = () if (folder / DATA).is_file() else (DATA,)
    model = replace(model_of(document, folder.stem, folder.name, facts.Form.COMPILED), absent=absent)
    if program.is_file():
        # The model with what its text says: operations, weights, conversions.
        try:
            text = read_bytes(program, MAX_TEXT_BYTES).decode("utf-8")
        except UnicodeDecodeError:
            raise UnreadableModel(f"{quote(program)} is damaged: it is not text") from None
        described = {function.name: function for function in model.functions}
        functions = [
            with_operations(
                described.get(each.name, each), opset_name(each.opset or ""), each.parameters, each.operations or ()
            )
            for each in functions_of(text)
        ]
        functions.sort(key=lambda each: each.name != model.main.name)
        weights = replace(weights_of_all(functions, program.parent), precision=model.weights.precision)
        model = replace(model, kind=facts.Kind.ML_PROGRAM, functions=tuple(functions), weights=weights)
    stages = sorted((int(match[1]), entry) for entry in folder.iterdir() if (match := _STAGE.fullmatch(entry.name)))
    if stages and model.is_pipeline and depth < _DEEPEST:
        read = tuple(read_compiled(entry, depth + 1) for _, entry in stages if entry.is_dir())
        model = replace(model, stages=read, weights=weights_of_stages([stage.weights for stage in read]))
    return model


def functions_of(text: str) -> tuple[facts.Function, ...]:
    """The functions of a `model.mil`, without interfaces. Raises `UnreadableModel` without any. O(characters)."""
    if not text.lstrip().startswith("program("):
        raise UnreadableModel("'model.mil' is damaged: it does not begin with a program")
    functions: list[facts.Function] = []
    head: re.Match[str] | None = None
    operations: list[Operation] = []
    depth = 0
    for line in text.splitlines():
        begins = _FUNCTION.fullmatch(line) if len(line) < _LONGEST else None
        if begins is not None:
            head, operations, depth = begins, [], 0
        elif head is None:
            continue
        elif _END.fullmatch(line) and depth == 0:
            functions.append(facts.Function(head[1], (), (), (), head[2], tuple(_values(head[3])), tuple(operations)))
            head = None
        else:
            if line.lstrip().startswith("}"):
                depth = max(depth - 1, 0)
            if (operation := _operation(line, depth)) is not None:
                operations.append(operation)
                if len(operations) > MAX_OPERATIONS:
                    raise UnreadableModel(f"'model.mil' has more than {MAX_OPERATIONS:,} operations; it is damaged")
            if line.rstrip().endswith("{"):
                depth += 1
    if not functions or head is not None:
        raise UnreadableModel("'model.mil' is truncated: no function in it is complete")
    return tuple(functions)


def _operation(line: str, depth: int) -> Operation | None:
    match = _STATEMENT.match(line[:_LONGEST])
    if match is None:
        return None
    outputs = tuple(_values(match[1]))
    rest = match[3]
    end = _closing(rest)
    inside, attributes = rest[:end], rest[end:]
    arguments = [(name, tuple(re.findall(r"[A-Za-z_]\w*", value))) for name, value in _ARGUMENT.findall(inside)]
    name = _NAME.search(attributes)
    return Operation(
        type=match[2].rpartition(".")[2],
        name=name[1] if name else (outputs[0].name if outputs else ""),
        arguments=tuple(sorted(arguments)),
        outputs=outputs,
        stored=tuple(
            sorted((*_large_constants(inside), *_large_constants(attributes)), key=lambda entry: entry.parameter)
        ),
        depth=depth,
    )


def _closing(text: str) -> int:
    """Where the parenthesis that encloses the beginning of a text closes; its end where none does."""
    depth, quoted, previous = 1, False, ""
    for position, char in enumerate(text):
        if char == '"' and previous != "\\":
            quoted = not quoted
        elif not quoted and char in "()":
            depth += 1 if char == "(" else -1
            if depth == 0:
                return position
        previous = char
    return len(text)


def _values(text: str) -> Iterator[Value]:
    """Declarations such as `tensor<fp16, [1, 10]> x`, separated by commas."""
    for element, sizes, scalar, name in _TYPE.findall(text):
        if element:
            parts = (part.strip() for part in sizes.split(",") if part.strip())
            dimensions = tuple(int(part) if part.isdecimal() and len(part) < 19 else None for part in parts)
            yield Value(name, TYPES.get(element), dimensions)
        else:
            yield Value(name, TYPES.get(scalar), () if scalar in TYPES else None)


def _large_constants(text: str) -> Iterator[Stored]:
    for parameter, element, sizes, path, offset, listed in _STORED.findall(text):
        dimensions = tuple(int(part) for part in sizes.split(",") if part.strip().isdecimal() and len(part) < 19)
        if parameter == "name" or TYPES.get(element) in (None, "String"):
            continue
        place, file = (int(offset), path) if path else (None, None)
        numbers = [part.strip() for part in listed.split(",")] if listed else []
        whole = len(numbers) <= MOST_VALUES and all(part.lstrip("-").isdecimal() for part in numbers)
        values = tuple(map(int, numbers)) if whole else ()
        yield Stored(parameter, TYPES[element], dimensions, place, file, values)
