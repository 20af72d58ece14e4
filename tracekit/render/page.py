"""A page that asks for nothing. Its content security policy names the script and the style by their hashes and allows
nothing else, so that no text of a recording could run even if it got past `markup`.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from tracekit.render.markup import Html, tag

if TYPE_CHECKING:
    from collections.abc import Iterable


def document(title: str, generator: str, body: Iterable[str], *, script: str = "", style: str = "") -> str:
    """The page, with a line break at the end. `script` is at its end, and `style` behind that of all pages."""
    style = asset("report.css") + style
    head = [
        Html('<meta charset="utf-8">'),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(script, style)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="generator", content=generator),
        tag("meta", name="description", content=title),
        tag("title", title),
        tag("style", Html(style)),
    ]
    end = tag("script", Html(script)) if script else None
    return f'<!doctype html>\n<html lang="en">{tag("head", *head)}\n{tag("body", *body, end)}</html>\n'


def asset(name: str) -> str:
    """Text of a file that `web/` builds."""
    return files("tracekit.render").joinpath(f"assets/{name}").read_text("utf-8")


def _policy(script: str, style: str) -> str:
    """The content security policy."""
    allowed = f"script-src '{_hash(script)}'" if script else "script-src 'none'"
    return f"default-src 'none'; {allowed}; style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
