"""Short names of functions, the same whether a name is as the linker knows it or as Apple's tools print it.

A full C++ name may have a thousand characters. What is kept is the path: namespaces or module, types, function; what
is left out are parameters, template arguments and whatever the compiler added.
"""

from tracekit.recording.function_names.short import is_core_ml_overlay, short_name

__all__ = ["is_core_ml_overlay", "short_name"]
