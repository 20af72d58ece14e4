"""Text as XML can hold it."""

from __future__ import annotations

import re

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even escaped (section 2.2)."""
_SPECIAL = str.maketrans(
    # Blanks other than the space would be read back as spaces from an attribute (section 3.3.3).
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)
_PLAIN = re.compile(r"[\w .:/()-]*", re.ASCII)


def escape(text: str) -> str:
    """Text for content or a quoted attribute. What XML cannot hold becomes U+FFFD."""
    if _PLAIN.fullmatch(text):
        return text
    return xml_text(text).translate(_SPECIAL)


def xml_text(text: str) -> str:
    """Text in which U+FFFD stands for what XML cannot hold, else unescaped."""
    return _FORBIDDEN.sub("\ufffd", text)
