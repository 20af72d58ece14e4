"""Pieces of HTML that stay text whatever a recording puts into them. Escaping happens here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable

_VOID = frozenset({"br", "meta", "rect", "line", "path", "circle", "input"})
"""Elements that are written without an end where they are empty."""
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


class Html(str):
    """Markup that is finished. Any other text is escaped where it is put into an element."""

    __slots__ = ()


def tag(name: str, /, *children: str | None, **attributes: str | float | bool | None) -> Html:
    """An element. `class_` is `class`, `data_from` is `data-from`; False and None leave one out, True is no value."""
    opening = ""
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        opening += f" {key.rstrip('_').replace('_', '-')}"
        if value is not True:
            # Coordinates need no more than a hundredth.
            text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
            opening += f'="{text.translate(_ESCAPED)}"'
    if name in _VOID and not children:
        return Html(f"<{name}{opening}>" if name in ("br", "meta", "input") else f"<{name}{opening}/>")
    return Html(f"<{name}{opening}>{join(children)}</{name}>")


def join(parts: Iterable[str | None], between: str = "") -> Html:
    """Pieces behind one another; what is no markup is escaped, None and empty ones are left out."""
    return Html(_safe(between).join(_safe(part) for part in parts if part))


def page_data(name: str, meta: str, columns: str) -> Html:
    """What the script of a page draws from, in elements whose ids begin with `name`: JSON, and columns as text."""
    first = tag("script", Html(meta), type="application/json", id=f"{name}-meta")
    return join((first, tag("script", Html(columns), type="text/plain", id=f"{name}-columns")))


def _safe(part: str) -> str:
    return part if isinstance(part, Html) else part.translate(_ESCAPED)
