"""What a process of the command line leaves out, so that it starts sooner."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec


def lighten() -> None:
    """Let numpy and pandas, once they are imported, do without what tracekit has no use for. For processes of our own
    only; those of a notebook are left as they are.

    numpy starts no threads for linear algebra. pandas starts as where pyarrow is not installed: a fourth sooner, and
    frames of tracekit are made and searched no slower. Whoever else imports pyarrow gets it.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if "pandas" not in sys.modules:
        sys.meta_path.insert(0, _NotForPandas())


class _NotForPandas:
    """A finder of modules that refuses pyarrow while pandas is imported."""

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """Leave every other module to the finders after it. Raises `ModuleNotFoundError`."""
        if fullname == "pyarrow":
            pandas = sys.modules.get("pandas")
            if getattr(getattr(pandas, "__spec__", None), "_initializing", False):
                raise ModuleNotFoundError("tracekit has no use for it in pandas", name=fullname)
        return None
