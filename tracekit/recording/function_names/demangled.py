"""Paths of functions from names as Apple's tools print them: in full, with parameters and template arguments."""

from __future__ import annotations

import re
from typing import Final

from tracekit.recording.function_names.cpp import ANONYMOUS, LAMBDA
from tracekit.recording.function_names.swift import REABSTRACTION

_BLOCK: Final = "invocation function for block in "
_IN_LAMBDA: Final = re.compile(r"::(?:'lambda\d*'|\{lambda.*?\}#\d+|\$_\d+).*$", re.DOTALL)
_SWIFT_ATTRIBUTE: Final = re.compile(
    r"(?:@\w+|static|specialized|merged|outlined|partial apply (?:forwarder )?for"
    r"|(?:generic (?:not re-abstracted )?|function signature )specialization of|protocol witness for|dispatch thunk of"
    r"|default argument \d+ of|(?:suspend|await) resume partial function for) "
)
_SWIFT_INNER: Final = re.compile(r"(?:(?:implicit )?closure|[^\s.]+) #\d+ (?:.*? )?in (?=\S)")
"""A closure, or a function in a function, before the name of what it is in."""
_SWIFT_OPERATOR: Final = re.compile(r"\.([-+*/%&|^~!=<>?.@]+) (?:in|pre|post)fix(?=[(<])")
_THUNK: Final = re.compile(r"^(?:generic[^:]*? of )?(?:reabstraction thunk helper |thunk for @)")
_EXTENSION: Final = re.compile(r"\(extension in \w+\):")
_PRIVATE: Final = re.compile(r"\((\S+) in _[0-9A-F]{32}\)")
_ACCESSOR: Final = re.compile(r"\.(?:getter|setter|modify|read|didset|willset)(?= :|$)")
"""Of a property; a function of such a name has parameters."""
_RESULT: Final = re.compile(r" (?:throws|async|-|:)")
_TAG: Final = re.compile(r"\[abi:\w+\]")
_OPERATOR: Final = re.compile(
    r"operator(?:\s*(?:\(\)|\[\]|<=>|<<=?|>>=?|->\*?|[-+*/%^&|~!=<>,]+)|\s(?:new|delete)(?:\[\])?|\"\"\s*\w+)?"
)


def short_printed_name(name: str) -> str:
    """A printed name without parameters, template arguments and return type. O(length)."""
    if name.startswith(("<", "Swift runtime failure:")):
        # Not a function: `<deduplicated_symbol>`, `Swift runtime failure: arithmetic overflow`.
        return name
    if name.startswith(_BLOCK):
        return f"{short_printed_name(name.removeprefix(_BLOCK))} (block)"
    if "::" in name or name.startswith("operator"):
        return _cpp(name) or name
    return _swift(name) or name


def _swift(name: str) -> str:
    if _THUNK.search(name):
        return REABSTRACTION
    name = _ACCESSOR.sub("", _PRIVATE.sub(r"\1", _EXTENSION.sub("", name)))
    operator = _SWIFT_OPERATOR.search(name)
    path = " ".join(_without_brackets(name[: operator.start()] if operator else name).split())
    while around := _SWIFT_ATTRIBUTE.match(path) or _SWIFT_INNER.match(path):
        path = path[around.end() :]
    path = _RESULT.split(path, maxsplit=1)[0].strip()
    # In C++ the type of the result may stand before.
    path = path.rpartition(" ")[2].replace("__C.", "").removeprefix("Swift.")
    path = path.replace("__allocating_init", "init").replace("__deallocating_deinit", "deinit")
    return f"{path}.{operator[1]}" if operator else path


def _cpp(name: str) -> str:
    name = _TAG.sub("", name)
    is_lambda = _IN_LAMBDA.search(name)
    if is_lambda:
        name = name[: is_lambda.start()]
    path = _without_brackets(name).replace("std::__1::", "std::")
    # What is left of the last blank is a return type; what is right of it a qualifier.
    operator = path.find("operator")
    head = path if operator < 0 else path[:operator]
    words = head.replace(ANONYMOUS, "\0").split(" ")
    kept = [word for word in words if "::" in word] or words[:1]
    result = (kept[-1] if operator < 0 else words[-1]).replace("\0", ANONYMOUS)
    if operator >= 0:
        result += path[operator:].removesuffix(" const")
    return f"{result} {LAMBDA}" if is_lambda else result


def _without_brackets(name: str) -> str:
    """The name without `(...)` and `<...>` and what they hold; those of operators and namespaces without name stay."""
    kept: list[str] = []
    depth = at = 0
    while at < len(name):
        if depth == 0 and name.startswith(ANONYMOUS, at):
            kept.append(ANONYMOUS)
            at += len(ANONYMOUS)
            continue
        operator = _OPERATOR.match(name, at) if name.startswith("operator", at) else None
        if operator is not None and (at == 0 or not (name[at - 1].isalnum() or name[at - 1] == "_")):
            if depth == 0:
                kept.append(operator[0])
            at = operator.end()
            continue
        sign = name[at]
        if sign in "(<[":
            depth += 1
        elif sign in ")>]":
            depth -= not name.startswith("->", at - 1)
            depth = max(depth, 0)
        elif depth == 0:
            kept.append(sign)
        at += 1
    return "".join(kept).strip()
