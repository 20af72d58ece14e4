"""Paths of C++ functions from mangled names of the Itanium ABI. Of types and expressions only their end is found."""

from __future__ import annotations

import re
from typing import Final

ANONYMOUS: Final = "(anonymous namespace)"
LAMBDA: Final = "(lambda)"

_STD: Final = {
    "St": "std",
    "Sa": "std::allocator",
    "Sb": "std::basic_string",
    "Ss": "std::string",
    "Si": "std::istream",
    "So": "std::ostream",
    "Sd": "std::iostream",
}
_OPERATORS: Final = {
    "nw": " new", "na": " new[]", "dl": " delete", "da": " delete[]", "aw": " co_await", "ps": "+", "ng": "-",
    "ad": "&", "de": "*", "co": "~", "pl": "+", "mi": "-", "ml": "*", "dv": "/", "rm": "%", "an": "&", "or": "|",
    "eo": "^", "aS": "=", "pL": "+=", "mI": "-=", "mL": "*=", "dV": "/=", "rM": "%=", "aN": "&=", "oR": "|=",
    "eO": "^=",
    "ls": "<<", "rs": ">>", "lS": "<<=", "rS": ">>=", "eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=",
    "ge": ">=", "ss": "<=>", "nt": "!", "aa": "&&", "oo": "||", "pp": "++", "mm": "--", "cm": ",", "pm": "->*",
    "pt": "->", "cl": "()", "ix": "[]",
}  # fmt: skip
_THUNK: Final = re.compile(r"T(?:hn?\d+_|vn?\d+_n?\d+_)|GV|GR|T[WH]")
_START: Final = re.compile(r"(N)[rVK]*[RO]?|(Z)|L")
_PART: Final = re.compile(
    r"(?P<name>\d{1,6})|(?P<arguments>I)|(?P<end>E)|(?P<std>S[tabsiod])|(?P<constructor>C[1-5])|(?P<destructor>D[0-5])"
    r"|(?P<lambda>U[lt])|(?P<tag>B)|(?P<left_out>L|T[0-9A-Z]*_)|(?P<cast>cv)|(?P<operator>[a-z][a-zA-Z])"
)
_TOKEN: Final = re.compile(
    # What is of no matter: substitutions, builtin types, qualifiers, literals.
    r"(?:S(?:[tabsiod]|[0-9A-Z]*_)|T(?:L\d+_)?[0-9A-Z]*_|[a-zPRKOVGMB_]|L[a-z]n?[0-9a-f]*E|L[DU]n[0-9a-f]*E|Ut\d*_"
    r"|A\d*_|Dv\d+_|DF\d+[b_x]?|D[a-su-zO0-5]|C[1-5])*+"
    r"(?:(\d{1,6})"  # a name of so many characters
    r"|(Ul|D[tT]|ZL?|[NIXJFU]|L)"  # up to the next E that is not another's
    r"|(E))"
)
_EXPRESSION: Final = re.compile(r"(cl|il|tl|cw)|fL?\d*p[rVK]*(?:T|\d*_)|[a-z][a-zA-Z]")
_NAME, _OPENED = 1, 2
"""Groups of a token."""
_EXPRESSIONS: Final = frozenset({"X", "cl", "il", "tl", "cw", "Dt", "DT"})
_NUMBER: Final = re.compile(r"\d*_")
_LENGTH: Final = re.compile(r"\d{1,6}")


class MangledError(Exception):
    """A name that does not follow the rules, or uses one that is not known here."""


def short_cpp(name: str) -> str:
    """Path of a function from its mangled name, which begins with `_Z`. Raises `MangledError`. O(length)."""
    text = name[2:]
    thunk = _THUNK.match(text)
    try:
        parts, _ = _path(text, thunk.end() if thunk else 0)
    except (IndexError, RecursionError) as error:
        raise MangledError(name) from error
    if LAMBDA in parts:
        # The function around a lambda says what is in it.
        return f"{'::'.join(parts[: parts.index(LAMBDA)])} {LAMBDA}".strip()
    if not parts:
        raise MangledError(name)
    return "::".join(parts)


def _path(text: str, at: int) -> tuple[list[str], int]:
    """Parts of the name at a place, without parameters, and where it ends."""
    start = _START.match(text, at)
    at = start.end() if start else at
    if start and start[2]:
        return _local(text, at)
    nested = bool(start and start[1])
    parts: list[str] = []
    while part := _PART.match(text, at):
        at, kind = part.end(), part.lastgroup
        match kind:
            case "name":
                at += int(part[0])
                identifier = text[part.end() : at]
                if at > len(text) or not identifier:
                    raise MangledError(text)
                if identifier.startswith("_GLOBAL__N"):
                    identifier = ANONYMOUS
                elif identifier.startswith("$_"):
                    identifier = LAMBDA
                parts += [identifier] if identifier != "__1" else []
            case "arguments":
                at = _behind(text, at)
            case "end":
                break
            case "std":
                parts = [_STD[part[0]]]
            case "constructor":
                parts.append(parts[-1])
            case "destructor":
                parts.append(f"~{parts[-1]}")
            case "lambda":
                at = _number(text, _behind(text, at) if part[0] == "Ul" else at)
                parts += [LAMBDA] if part[0] == "Ul" else []
            case "tag":
                length = _LENGTH.match(text, at)
                if length is None:
                    raise MangledError(text)
                at = length.end() + int(length[0])
            case "cast":
                return [*parts, "operator cast"], len(text)
            case "operator" if part[0] in _OPERATORS:
                parts.append(f"operator{_OPERATORS[part[0]]}")
            case "left_out":
                pass
            case _:
                raise MangledError(text)
        if not nested and not (
            kind in ("std", "left_out")
            or text.startswith("B", at)
            or (kind != "arguments" and text.startswith("I", at))
        ):
            break
    else:
        raise MangledError(text)
    return parts, at


def _local(text: str, at: int) -> tuple[list[str], int]:
    """A name inside a function: the function with its parameters, `E`, the name."""
    outer, at = _path(text, at)
    at = _behind(text, at)
    if text.startswith("s", at):
        return outer, at + 1
    if text.startswith("d", at):
        at = _number(text, at + 1)
    inner, at = _path(text, at)
    return [*outer, *inner], at


def _behind(text: str, at: int) -> int:
    """Place behind the `E` that ends what is open at a place."""
    opened = ["I"]
    fresh = False
    find = _TOKEN.match
    while opened:
        inside = opened[-1]
        if inside in _EXPRESSIONS and (token := _EXPRESSION.match(text, at)):
            at = token.end()
            if token[1]:
                opened.append(token[1])
            continue
        token = find(text, at)
        if token is None:
            raise MangledError(text)
        at, kind = token.end(), token.lastindex
        if kind == _NAME:
            # The value of an enumeration follows its type.
            if inside != "L" or fresh:
                at += int(token[_NAME])
            fresh = False
        elif kind == _OPENED:
            sign = token[_OPENED]
            # In a name `L` says that it is known in one file only; elsewhere it begins a literal.
            if sign != "U" and (sign != "L" or inside not in ("N", "Z")):
                opened.append(sign)
            fresh = sign == "L"
        elif opened.pop() == "Ul":
            at = _number(text, at)
            fresh = False
    return at


def _number(text: str, at: int) -> int:
    """Place behind a number that ends in `_`."""
    match = _NUMBER.match(text, at)
    if match is None:
        raise MangledError(text)
    return match.end()
