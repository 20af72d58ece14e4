"""What pandas hands out is its own: nothing writes to the array of a column, with which the column may change."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import tracekit

OF_PANDAS = ("to_numpy", "or_minus_one")
"""Functions that may give the array behind a column."""
IN_PLACE = ("sort", "fill", "put", "partition", "at")


def name_of(node: ast.AST) -> str | None:
    """The name that an array is reached by, without its subscripts."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def is_of_pandas(value: ast.expr | None) -> bool:
    asked = value.func if isinstance(value, ast.Call) else None
    return getattr(asked, "attr", getattr(asked, "id", "")) in OF_PANDAS


def written(node: ast.AST) -> Iterator[ast.AST]:
    """What a statement or a call changes in place."""
    if isinstance(node, ast.AugAssign):
        yield node.target
    elif isinstance(node, ast.Assign):
        yield from (target for target in node.targets if isinstance(target, ast.Subscript))
    elif isinstance(node, ast.Call):
        yield from (keyword.value for keyword in node.keywords if keyword.arg == "out")
        if isinstance(node.func, ast.Attribute) and node.func.attr in IN_PLACE:
            yield from (node.func.value, *node.args[:1])


def changed_columns(source: str) -> list[int]:
    """Lines that write to an array which the same function took from a column."""
    lines = set()
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        inside = list(ast.walk(function))
        given = [
            (node.targets if isinstance(node, ast.Assign) else [node.target], node.value)
            for node in inside
            if isinstance(node, ast.Assign | ast.AnnAssign)
        ]
        taken = {name_of(target) for targets, value in given if is_of_pandas(value) for target in targets} - {None}
        lines |= {node.lineno for node in inside for target in written(node) if name_of(target) in taken}
    return sorted(lines)


def test_nothing_writes_to_the_array_of_a_column() -> None:
    root = Path(tracekit.__file__).parent
    sources = {str(path.relative_to(root)): path.read_text("utf-8") for path in root.rglob("*.py")}
    asking = {path: source for path, source in sources.items() if any(f"{name}(" in source for name in OF_PANDAS)}
    assert asking
    found = {path: changed_columns(source) for path, source in asking.items()}
    assert {path: lines for path, lines in found.items() if lines} == {}
