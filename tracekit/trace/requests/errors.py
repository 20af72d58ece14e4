"""Which error a text names. How tables spell errors was never seen, so names count without case, anywhere in it."""

from __future__ import annotations

import re
from typing import Final

NONE, OTHER = "none", "other"
_NAMES: Final = {
    "context window": ("contextSizeExceeded", "exceededContextWindowSize", "contextWindow"),
    "guardrail": ("guardrailViolation",),
    "refusal": ("refusal",),
    "rate limit": ("rateLimited", "quotaLimitReached"),
    "concurrent requests": ("concurrentRequests",),
    "assets unavailable": ("assetsUnavailable",),
    "unsupported": ("unsupported",),
    "decoding failure": ("decodingFailure",),
    "timeout": ("timeout", "timed out"),
    "canceled": ("cancel",),
}
"""Names of `LanguageModelError` and `GenerationError`."""
KINDS: Final = (NONE, *_NAMES, OTHER)
_WITHOUT: Final = ("", "n/a")
"""What stands for no error."""
_WINDOW: Final = re.compile(r"context\s?size\D{0,12}(\d{3,9})", re.IGNORECASE)


def error_kind(text: str | None) -> str | None:
    """One of `KINDS`; None where there is no text to go by."""
    if text is None:
        return None
    words = text.strip().casefold()
    if words in _WITHOUT:
        return NONE
    return next((kind for kind, names in _NAMES.items() if any(name.casefold() in words for name in names)), OTHER)


def window_named(text: str | None) -> int | None:
    """The size of the context window that an error names."""
    found = _WINDOW.search(text or "")
    return None if found is None else int(found[1])
