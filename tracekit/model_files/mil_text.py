"""`model.mil`: the text of a compiled ML program.

One statement a line, as the compiler writes it:

    func main<ios16>(tensor<fp16, [1, 10]> x) {
            tensor<fp16, [1, 10]> y = mul(x = x, y = y)[name = tensor<string, []>("op_3")];
        } -> (y);

Only what the facts need is read; a statement of another form is passed over and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracekit.model_files.facts import Function, Operation, Stored, Value
from tracekit.model_files.failures import MAX_OPERATIONS, UnreadableModel

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
    r"offset = \w+[^(]{0,20}\((\d{1,18})\)\))?"
)
_NAME = re.compile(r"name = (?:tensor<string, \[\]>|string)\(\"([^\"]{0,500})\"\)")
_LONGEST = 1_000_000
"""Characters of a statement; constants may be written out."""


def functions_of(text: str) -> tuple[Function, ...]:
    """The functions of a `model.mil`, whose interfaces it does not state. Raises `UnreadableModel` where there is none.
    O(characters)."""
    if not text.lstrip().startswith("program("):
        raise UnreadableModel("'model.mil' is damaged: it does not begin with a program")
    functions: list[Function] = []
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
            functions.append(Function(head[1], (), (), (), head[2], tuple(_values(head[3])), tuple(operations)))
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
            yield Value(name, TYPES.get(element), _dimensions(sizes))
        else:
            yield Value(name, TYPES.get(scalar), () if scalar in TYPES else None)


def _dimensions(text: str) -> tuple[int | None, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return tuple(int(part) if part.isdecimal() and len(part) < 19 else None for part in parts)


def _large_constants(text: str) -> Iterator[Stored]:
    for parameter, element, sizes, path, offset in _STORED.findall(text):
        dimensions = tuple(int(part) for part in sizes.split(",") if part.strip().isdecimal() and len(part) < 19)
        if parameter == "name" or TYPES.get(element) in (None, "String"):
            continue
        location = (int(offset), path) if path else (None, None)
        yield Stored(parameter, TYPES[element], dimensions, *location)
