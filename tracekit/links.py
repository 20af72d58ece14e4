"""Where the documentation is, for whoever has no checkout."""

from __future__ import annotations

from typing import Final

REPOSITORY: Final = "https://github.com/coreml-tracekit/tracekit"


def docs_page(name: str) -> str:
    """Address of a page of `docs/`, such as `compare.md`."""
    return f"{REPOSITORY}/blob/main/docs/{name}"
