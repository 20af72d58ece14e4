"""Makes the package's description from the README: links that are relative in the repository are absolute on PyPI."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY = "https://github.com/coreml-tracekit/tracekit"
FILES = f"{REPOSITORY}/blob/main/"
PICTURES = "https://raw.githubusercontent.com/coreml-tracekit/tracekit/main/"
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)]+)\)")


def absolute(markdown: str) -> str:
    """The same text with absolute links and pictures."""
    return _LINK.sub(lambda link: f"{link[1]}[{link[2]}]({PICTURES if link[1] else FILES}{link[3]})", markdown)


class DescriptionHook(MetadataHookInterface):
    """Gives hatchling the description."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `readme`, which `pyproject.toml` calls dynamic."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text)}
