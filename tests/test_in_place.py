"""Rows share their columns: nothing writes to the array of one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import tracekit

COLUMNS = ("IntArray", "FloatArray", "BoolArray", "CodeArray")
"""Annotations of fields that are arrays."""
IN_CELLS = {"values", "codes"}
"""Arrays of columns that may be null."""
IN_PLACE = ("sort", "fill", "put", "partition", "at")

SOURCES = {path: path.read_text("utf-8") for path in Path(tracekit.__file__).parent.rglob("*.py")}


@cache
def fields() -> frozenset[str]:
    """Names of the columns of all rows that modules share which are arrays: `start_ns: IntArray = column(…)`."""
    nodes = (node for source in SOURCES.values() for node in ast.walk(ast.parse(source)))
    classes = (node for node in nodes if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))
    within = (each for node in classes for each in node.body)
    return frozenset(
        each.target.id
        for each in within
        if isinstance(each, ast.AnnAssign)
        and isinstance(each.target, ast.Name)
        and isinstance(each.value, ast.Call)
        and ast.unparse(each.value.func) in ("column", "recorded")
        and ast.unparse(each.annotation) in COLUMNS
    )


def is_column(node: ast.AST | None) -> bool:
    """Whether it is an array that rows hold, or a part that shares its memory. `filled` gives that of the column where
    all are known."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return is_column(node.value)
    if isinstance(node, ast.Call):
        return getattr(node.func, "attr", "") == "filled"
    # What an object has of its own is no column of the rows that it is given.
    of_itself = isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self"
    return isinstance(node, ast.Attribute) and not of_itself and node.attr in fields() | IN_CELLS


def array_of(node: ast.AST) -> ast.AST:
    """What is subscripted."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def written(node: ast.AST) -> Iterator[ast.AST]:
    """What a statement or a call changes in place."""
    if isinstance(node, ast.AugAssign) and not isinstance(node.target, ast.Attribute):
        yield node.target
    elif isinstance(node, ast.Assign):
        yield from (target for target in node.targets if isinstance(target, ast.Subscript))
    elif isinstance(node, ast.Call):
        yield from (keyword.value for keyword in node.keywords if keyword.arg == "out")
        texts = any(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in node.args)
        if isinstance(node.func, ast.Attribute) and node.func.attr in IN_PLACE and not texts:
            yield from (node.func.value, *node.args[: node.func.attr in ("put", "at")])


def changed_columns(source: str) -> list[int]:
    """Lines that write to an array of rows, or to one which the same function took from rows."""
    lines = set()
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        inside = [node for node in ast.walk(function) if isinstance(node, ast.expr | ast.stmt)]
        given = [
            (target, node.value)
            for node in inside
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        ]
        given += [
            pair
            for target, value in given
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            for pair in zip(target.elts, value.elts, strict=False)
        ]
        taken = {target.id for target, value in given if isinstance(target, ast.Name) and is_column(value)}
        changed = [(node, array_of(target)) for node in inside for target in written(node)]
        lines |= {
            node.lineno
            for node, array in changed
            if is_column(array) or (isinstance(array, ast.Name) and array.id in taken)
        }
    return sorted(lines)


@pytest.mark.parametrize(
    ("lines", "changed"),
    [
        ("times = rows.start_ns; times += 1", True),
        ("times, _ = rows.start_ns, 1; times[0] = 1", True),
        ("numbers: IntArray = rows.pid.filled(); numbers.sort()", True),
        ("rows.model.codes[2] = 3", True),
        ("np.add.at(rows.start_ns[1:], place, 2)", True),
        ("times = rows.start_ns + 1; times += 1", False),
        ("times = np.sort(rows.start_ns); times[0] = 1", False),
    ],
)
def test_a_change_of_a_column_is_seen(lines: str, changed: bool) -> None:
    assert bool(changed_columns(f"def f(): {lines}")) == changed


def test_nothing_writes_to_the_array_of_a_column() -> None:
    found = {str(path): changed_columns(source) for path, source in SOURCES.items()}
    assert {path: lines for path, lines in found.items() if lines} == {}
