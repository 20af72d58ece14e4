"""The short name of a function in any language."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from tracekit.recording.function_names.cpp import MangledError, short_mangled
from tracekit.recording.function_names.demangled import short_demangled
from tracekit.recording.function_names.swift import is_swift, short_swift

_STUB: Final = "DYLD-STUB$$"
_CLONE: Final = re.compile(r"(?:\.cold\.\d+|\.llvm\.\d+|\.\d+)+$")
"""What compilers append to copies and split-off parts of a function."""
_BLOCK: Final = re.compile(r"_*(?:\d+(?=[-+]\[))?(.+?)(?:_block_invoke(?:[._]\d+)*)+$", re.DOTALL)
_CPP: Final = re.compile(r"_{1,4}Z")
_OVERLAY: Final = re.compile(r"_?\$sSo\d+ML\w*?C(?!\d)|_?\$sSo\d+ML")
_MESSAGE: Final = "objc_msgSend$"
_OVERLAY_PRINTED: Final = re.compile(r"(?:@\w+ )?(?:static )?(?:\(extension in CoreML\):)?(?:__C\.)?ML[A-Z]\w*\.")
_EXTENSION: Final = re.compile(r"_?\$sSo\d+ML\w*?C(\d+)(\w+)")


@lru_cache(maxsize=65_536)
def short_name(name: str) -> str:
    """A name without parameters, template arguments and what the compiler added. O(length).

    `-[Class method:]` and C names stay as they are; what cannot be taken apart stays whole.
    """
    if name.startswith(_STUB):
        return f"{short_name(_unscored(name.removeprefix(_STUB)))} (stub)"
    name = _CLONE.sub("", name)
    if name.startswith(("-[", "+[")):
        return name
    if (block := _BLOCK.match(name)) is not None:
        return f"{_of_block(name, block[1])} (block)"
    if _CPP.match(name):
        try:
            return short_mangled(name[name.index("Z") - 1 :])
        except MangledError:
            return name
    if is_swift(name):
        return short_swift(name) or name
    message = name.lstrip("_")
    if message.startswith(_MESSAGE):
        return f"objc_msgSend {message.removeprefix(_MESSAGE)}"
    return short_demangled(name) if any(mark in name for mark in " (<:.") else name


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


def _unscored(name: str) -> str:
    """A name without the underscore that Mach-O puts before every name."""
    return name if name.startswith(("_$", "__Z")) else name.removeprefix("_")


def _of_block(name: str, inner: str) -> str:
    """Name of the function that a block is written in."""
    mangled = re.match(r"_*?(_Z.*)", name[: name.rindex(inner) + len(inner)], re.DOTALL)
    return short_name(mangled[1] if mangled and _CPP.match(mangled[1]) else inner)
