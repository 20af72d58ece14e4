"""Paths of Swift functions from mangled names: module, types, and the first name that is no type."""

from __future__ import annotations

import re
from typing import Final

REABSTRACTION: Final = "reabstraction thunk"
"""What calls a Swift function by the conventions of another caller."""

_PREFIX: Final = re.compile(r"_?(?:\$[sSe]|_?T0)")
_TYPE_KINDS: Final = frozenset("CVOPa")
_PRIVATE: Final = re.compile(r"_[0-9A-F]{32}$")
_STANDARD: Final = {
    "SS": "String", "Sa": "Array", "Sb": "Bool", "SD": "Dictionary", "Sd": "Double", "Sf": "Float", "Sh": "Set",
    "Si": "Int", "Su": "UInt", "Sq": "Optional", "SJ": "Character", "Ss": "Substring", "SR": "UnsafeBufferPointer",
    "Sr": "UnsafeMutableBufferPointer", "SP": "UnsafePointer", "Sp": "UnsafeMutablePointer",
    "SV": "UnsafeRawPointer", "Sv": "UnsafeMutableRawPointer", "SW": "UnsafeRawBufferPointer",
    "Sw": "UnsafeMutableRawBufferPointer", "SN": "ClosedRange", "Sn": "Range", "SO": "ObjectIdentifier",
    "ST": "Sequence", "Sl": "Collection", "SK": "BidirectionalCollection", "Sk": "RandomAccessCollection",
    "SM": "MutableCollection", "Sm": "RangeReplaceableCollection", "SB": "BinaryFloatingPoint", "SF": "FloatingPoint",
    "Sz": "BinaryInteger", "SZ": "SignedInteger", "SU": "UnsignedInteger", "Sj": "Numeric",
    "SG": "RandomNumberGenerator", "SL": "Comparable", "SH": "Hashable", "SQ": "Equatable", "SX": "RangeExpression",
    "Sx": "Strideable",
    "SY": "RawRepresentable", "Se": "Decodable", "SE": "Encodable", "St": "IteratorProtocol", "Sy": "StringProtocol",
}  # fmt: skip
_EXTENSION: Final = re.compile(r"s?(?:\w{0,200}?rl)?E(?=[\d])")
"""What says that the standard library extends its own type, on conditions or without."""
_KINDS: Final = {"C": "init", "c": "init", "D": "deinit", "d": "deinit"}
_WORDS: Final = 26
"""Words that later identifiers can refer to, by a letter each."""
_WORD: Final = re.compile(r"[A-Z]+[^A-Z_]*|[^A-Z_0-9][^A-Z_]*")
_LENGTH: Final = re.compile(r"\d{1,6}")
_ENDING: Final = re.compile(r"f[CcDd]")
_ENDED: Final = re.compile(r"(?:^|(?<=[culC]))f([CcDd])")
_SUBSCRIPT: Final = re.compile(r"ci[gsmMrx]Z?(?:[A-Z\d]|$)")
_REABSTRACTION: Final = re.compile(r"_l?T[Rr](?:$|\w{0,200}_T[gG]\d?$)")
_WITNESS: Final = re.compile(r"[FgsrMCZm]TW(?![a-rt-z])")
_SUBSTITUTION: Final = re.compile(r"A(?:\d*[a-z])*+\d*[A-Z_]")
_FROM_MODULE: Final = re.compile(r"(?:s|A[A-Z])E(?=\d)")
"""What says that a module extends a type: that of Swift, or one that was named before."""
_OPERATOR: Final = re.compile(r"o[ipP]")
_SIGNS: Final = dict(zip("acdeglmnopqrstxz", "&@/=><*!|+?%-~^.", strict=True))
"""How names of operators are written."""


def is_swift(name: str) -> bool:
    """Whether a name is a mangled name of Swift."""
    return _PREFIX.match(name) is not None


class _Reader:
    """Reads a mangled name from the left."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._words: tuple[str, ...] = ()

    def context(self) -> list[str]:
        """Module and types around the function. What is of Objective-C or Swift itself has no module."""
        pair = self.text[self.at : self.at + 2]
        path: list[str] = []
        if pair in ("So", "SC"):
            self.at += 2
        elif pair in _STANDARD:
            self.at += 2
            if extended := _EXTENSION.match(self.text, self.at):
                self.at = extended.end()
            path = [_STANDARD[pair]]
        elif pair[:1] == "s":
            self.at += 1
        elif (module := self.identifier()) is not None:
            path = [module]
        while True:
            place = self.at, self._words
            name = self.identifier()
            if name is None:
                break
            # A name that is private to a file is followed by the mark of that file.
            behind = self.at, self._words
            mark = self.identifier()
            is_private = mark is not None and bool(_PRIVATE.match(mark)) and self.text.startswith("LL", self.at)
            if is_private:
                self.at += 2
            else:
                self.at, self._words = behind
            if self.text[self.at : self.at + 1] in _TYPE_KINDS:
                self.at += 1
                path.append(name)
                if extended := _FROM_MODULE.match(self.text, self.at):
                    self.at = extended.end()
                continue
            # The module that extends a type.
            if not is_private and self._take("E"):
                continue
            self.at, self._words = place
            break
        return path

    def identifier(self) -> str | None:
        """The identifier at the place; None where there is none. Words of earlier ones may be used again."""
        start = self.at
        name = self._identifier()
        if name is None:
            self.at = start
        return name

    def _identifier(self) -> str | None:
        if not self.text[self.at : self.at + 1].isdigit():
            return None
        repeats = encoded = False
        if self._take("0"):
            encoded = self._take("0")
            repeats = not encoded
        result = ""
        while True:
            while repeats and (letter := self.text[self.at : self.at + 1]).isalpha():
                self.at += 1
                repeats = letter.islower()
                index = ord(letter.lower()) - ord("a")
                if index >= len(self._words):
                    return None
                result += self._words[index]
            if self._take("0"):
                break
            length = _LENGTH.match(self.text, self.at)
            if length is None:
                return None
            self.at = length.end()
            if encoded:
                self._take("_")
            text = self.text[self.at : self.at + int(length[0])]
            if len(text) < int(length[0]):
                return None
            self.at += len(text)
            result += _decode_punycode(text) if encoded else text
            if not encoded and len(self._words) < _WORDS:
                # Later identifiers may refer to its words: one begins with a capital or after a `_`.
                self._words += tuple([word for word in _WORD.findall(text) if len(word) > 1])
            if not repeats:
                break
        return result

    def function(self) -> str | None:
        """Name of a function, a property or an operator; None where what follows has none."""
        name = self.identifier()
        if name is not None and _OPERATOR.match(self.text, self.at):
            return "".join(_SIGNS.get(letter, letter) for letter in name)
        return name

    def witness(self, module: list[str]) -> list[str]:
        """Protocol and function that a type conforms with; empty where they are unknown."""
        place = self.at, self._words
        protocol: list[str] = []
        after = -1
        while self.at < len(self.text):
            if earlier := _SUBSTITUTION.match(self.text, self.at):
                self.at = earlier.end()
            begin = self.at
            name = self.function()
            if name is None:
                self.at = begin + 1
                continue
            before = self.text[max(begin - 2, 0) : begin]
            if before in _STANDARD and not self.text.startswith(("Q", "R"), self.at):
                return [_STANDARD[before], name]
            if protocol and before.endswith("P"):
                return [*protocol, name]
            # `AA` is the module of the type that conforms.
            protocol = [*protocol, name] if after == begin else [*(module if before == "AA" else []), name]
            after = self.at
        self.at, self._words = place
        return []

    def kind_of_rest(self) -> str | None:
        """`init` or `deinit` where what follows belongs to one: their names are only those of their parameters."""
        if not _ENDING.search(self.text, self.at):
            return None
        place = self.at, self._words
        signs = []
        while self.at < len(self.text):
            if self.text[self.at].isdigit() and self.identifier() is not None:
                continue
            signs.append(self.text[self.at])
            self.at += 1
        self.at, self._words = place
        kind = _ENDED.search("".join(signs))
        return _KINDS[kind[1]] if kind else None

    def _take(self, sign: str) -> bool:
        if self.text.startswith(sign, self.at):
            self.at += 1
            return True
        return False


def short_swift(name: str) -> str:
    """Path of a function from its mangled name; empty where nothing of it is known. O(length)."""
    if _REABSTRACTION.search(name):
        return REABSTRACTION
    prefix = _PREFIX.match(name)
    reader = _Reader(name[prefix.end() if prefix else 0 :])
    path = reader.context()
    if _WITNESS.search(name) and (witness := reader.witness(path[:1])):
        return ".".join(witness)
    kind = reader.kind_of_rest() if path else None
    if kind is not None:
        return ".".join([*path, kind])
    function = "subscript" if _SUBSCRIPT.search(reader.text, reader.at) else reader.function()
    return ".".join(path if function is None else [*path, function])


def _decode_punycode(text: str) -> str:
    """Punycode of Swift, whose digits are letters: `_` parts, and `A` to `J` stand for 0 to 9."""
    plain, mark, rest = text.rpartition("_")
    digits = str.maketrans("ABCDEFGHIJ", "0123456789")
    try:
        return f"{plain}{'-' if mark else ''}{rest.translate(digits)}".encode("ascii").decode("punycode")
    except UnicodeError:
        return text
