"""Pieces of GitHub flavored Markdown that stay text whatever a recording puts into them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ACTIVE = re.compile(r"([\\`*_\[\]<>|~$&])")
"""Characters that Markdown, HTML or a formula would act on."""

_LINKING = re.compile(r"(?<=\w)(?=://)|(?<=@)(?=\w)|(?<=#)(?=\d)|(?<=\bwww)(?=\.)", re.IGNORECASE)
"""Places where GitHub would make a link, a mention or a reference of plain text."""

_JOINER = "&#8288;"
"""A character without width, written so that it is seen in the source. A comment would break links too, but importers
show it as text."""


def escape(text: str) -> str:
    """Text inside a line that Markdown shows as it is: no emphasis, code, HTML, link or mention."""
    return _LINKING.sub(_JOINER, _ACTIVE.sub(r"\\\1", text))


def sentence(text: str) -> str:
    """As `escape`, with what stands between backticks as code: our own sentences name commands that way."""
    parts = re.split(r"`([^`]+)`", text)
    return "".join(code(part) if index % 2 else escape(part) for index, part in enumerate(parts))


def code(text: str) -> str:
    """A name as code, whatever backticks it holds. A `|` becomes `¦`: no escape is right both in and out of tables."""
    inner = text.replace("|", "¦").strip() or " "
    longest = max((len(run) for run in re.findall("`+", inner)), default=0)
    fence = "`" * (longest + 1)
    edge = " " if inner.startswith("`") or inner.endswith("`") else ""
    return f"{fence}{edge}{inner}{edge}{fence}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[bool]) -> str:
    """A table; which columns hold words, the others hold numbers."""
    rule = [":--" if is_word else "--:" for is_word in words]
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, rule, *rows))


def details(summary: str, body: str) -> str:
    """A part that is closed at first; empty without a body."""
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>" if body else ""


def paragraphs(*parts: str) -> str:
    """The parts that hold something, with a blank line between them."""
    return "\n\n".join(part for part in parts if part)


def left_out(number: int) -> str:
    """Says that a table does not show everything; empty where it does."""
    return f"{number:,} more in the JSON report" if number > 0 else ""
