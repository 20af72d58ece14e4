"""Short names of functions, the same whether a name is as the linker knows it or as Apple's tools print it.

A full C++ name may have a thousand characters. What is kept is the path: namespaces or module, types, function; what
is left out are parameters, template arguments and whatever the compiler added.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from tracekit.recording.function_names.swift import is_swift, short_swift

_STUB: Final = "DYLD-STUB$$"
_LONGEST: Final = 10_000
"""Characters of a name that is taken apart. 4,300 were seen."""
_SHOWN: Final = 200
"""What is kept of a longer one."""
_NUMBERED: Final = re.compile(r"(?:[._]\d+)*")
_METHOD_LENGTH: Final = re.compile(r"\d+(?=[-+]\[)")
_CPP: Final = re.compile(r"_{1,4}Z")
_OVERLAY: Final = re.compile(r"_?\$sSo\d+ML")
_MESSAGE: Final = "objc_msgSend$"
_OVERLAY_PRINTED: Final = re.compile(r"(?:@\w+ )?(?:static )?(?:\(extension in CoreML\):)?(?:__C\.)?ML[A-Z]\w*\.")
_EXTENSION: Final = re.compile(r"_?\$sSo\d+ML\w*?C(\d{1,6})(\w+)")


@lru_cache(maxsize=65_536)
def short_name(name: str) -> str:
    """A name without parameters, template arguments and what the compiler added. O(length).

    `-[Class method:]` and C names stay as they are; what cannot be taken apart stays whole.
    """
    if name.startswith(_STUB):
        name = name.removeprefix(_STUB)
        # Mach-O puts an underscore before every name.
        return f"{short_name(name if name.startswith(('_$', '__Z')) else name.removeprefix('_'))} (stub)"
    if len(name) > _LONGEST:
        return name[:_SHOWN]
    function = name
    # Compilers append to copies and split-off parts of a function: `.cold.1`, `.12`.
    while function[-1:].isdigit():
        head = function.rstrip("0123456789")
        if not head.endswith("."):
            break
        function = head[:-1].removesuffix(".cold").removesuffix(".llvm")
    name = function or name
    if name.startswith(("-[", "+[")):
        return name
    if (around := _around_block(name)) is not None:
        return f"{short_name(around)} (block)"
    if _CPP.match(name):
        # Most recordings show few functions of C++, if any.
        from tracekit.recording.function_names.cpp import MangledError, short_cpp

        try:
            return short_cpp(name[name.index("Z") - 1 :])
        except MangledError:
            return name
    if is_swift(name):
        return short_swift(name) or name
    message = name.lstrip("_")
    if message.startswith(_MESSAGE):
        return f"objc_msgSend {message.removeprefix(_MESSAGE)}"
    if not any(mark in name for mark in " (<:."):
        return name
    # Bundles have mangled names.
    from tracekit.recording.function_names.demangled import short_printed_name

    return short_printed_name(name)


def is_core_ml_overlay(name: str) -> bool:
    """Whether a function in the app's own code is the Swift face of Core ML, which compilers copy into apps: the one
    that called it is the app's. An extension of such a class that the app itself makes is none."""
    if name.startswith(("$sSo", "_$sSo")):
        extension = _EXTENSION.match(name)
        if extension is not None:
            length = int(extension[1])
            module, after = extension[2][:length], extension[2][length : length + 1]
            if after == "E" and module != "CoreML":
                return False
        return _OVERLAY.match(name) is not None
    return _OVERLAY_PRINTED.match(name) is not None


def _around_block(name: str) -> str | None:
    """Name of the function that a block is written in; None where the name is not one of a block."""
    function = name
    while True:
        head, mark, tail = function.rpartition("_block_invoke")
        if not mark or not _NUMBERED.fullmatch(tail):
            break
        function = head
    if function == name or not function.strip("_"):
        return None
    plain = function.lstrip("_")
    if plain.startswith("Z") and plain != function:
        return f"__{plain}"
    return plain[length.end() :] if (length := _METHOD_LENGTH.match(plain)) else plain
