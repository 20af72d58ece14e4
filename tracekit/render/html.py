"""Documents as one HTML page that asks for nothing. Its content security policy names the script and the style by their
hashes and allows nothing else, so that no text of a recording could run even if it got past `markup`.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from tracekit._version import __version__
from tracekit.characters import visible
from tracekit.render import blocks, prose
from tracekit.render.blocks import Line, Role
from tracekit.render.markup import Html, join, tag
from tracekit.render.prose import sentence

GENERATOR = f"tracekit {__version__}"
NO_REQUESTS = "this file makes no network request"
ROWS = 2_000
"""Most rows of a table: a browser lays out as many at once. The JSON report holds all."""
WIDE = 8
"""From more columns on a table is set smaller on paper, and stays a table on a phone."""
NARROW = 2
"""Up to so many columns, names of quantities and their values stay a table on a phone."""
LINKED = 3
"""From so many sections on a page has links to them on top."""
KINDS = {
    Role.BAD: "worse",
    Role.GOOD: "clean",
    Role.OPEN: "inconclusive",
    **{severity: str(severity) for severity in (Role.CRITICAL, Role.HIGH, Role.MEDIUM, Role.LOW)},
}
"""Looks of tones, as the style has them (`web/src/report.css`)."""


_BESIDE = re.compile(r"[\w.-]+\.html", re.ASCII)
"""A page in the same folder."""


def html_of(document: blocks.Document, **_: Any) -> str:
    """The page, with a line break at the end."""
    figures = [block for block in blocks.walk(document.blocks) if isinstance(block, blocks.Figure)]
    data = [Html(figure.data) for figure in figures if figure.data]
    looks = " ".join(filter(None, ("verdict", KINDS.get(document.tone))))
    first = tag("p", line_markup(document.first), class_="verdict inconclusive") if document.first else None
    verdict = tag("p", line_markup(document.verdict), class_=looks) if document.verdict else None
    # A side of a comparison is named by the heading.
    sides = document.title.split(" \N{RIGHTWARDS ARROW} ")
    context = [
        (
            paragraph
            if not isinstance(paragraph.line, str)
            else replace(paragraph, line=paragraph.line.removeprefix(f"{document.title} · "))
        )
        for paragraph in document.context
        if not (paragraph.lead and blocks.plain(paragraph.line) in sides)
    ]
    top = tag("header", tag("h1", _broken(visible(document.title))), first, verdict, *map(_html, context), class_="top")
    named = [block for block in document.blocks if isinstance(block, blocks.Section) and block.name]
    body = [top]
    if len(named) >= LINKED:
        skip = tag("a", f"Skip to: {visible(named[0].title)}", href=f"#{named[0].name}", class_="skip")
        links = (tag("a", visible(block.title), href=f"#{block.name}") for block in named)
        body = [skip, top, tag("nav", *links, aria_label="Sections")]
    foot = tag("footer", f"{document.foot or GENERATOR} · {NO_REQUESTS}")
    # Sections of the first level that have a name are open: links lead to them.
    opened = (
        replace(block, folded=False) if isinstance(block, blocks.Section) and block.name else block
        for block in document.blocks
    )
    main = tag("main", *(_card(block, "h2") if isinstance(block, blocks.Card) else _html(block) for block in opened))
    script = _asset("report.js")
    title = ": ".join(filter(None, (visible(document.title), visible(blocks.plain(document.verdict)))))
    # What a browser knows of the page before it reads on; its policy allows this script and this style.
    style = _asset("report.css") + "".join(figure.style for figure in figures)
    policy = f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'"
    names = {
        "viewport": "width=device-width, initial-scale=1",
        "color-scheme": "light dark",
        "referrer": "no-referrer",
        "generator": GENERATOR,
        "description": title,
    }
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=f"{policy}; base-uri 'none'; form-action 'none'"),
        *(tag("meta", name=name, content=content) for name, content in names.items()),
        tag("title", title),
        tag("style", Html(style)),
    )
    content = tag("body", *body, main, *data, foot, tag("script", Html(script)))
    return f'<!doctype html>\n<html lang="en">{head}\n{content}</html>\n'


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _asset(name: str) -> str:
    """Text of a file that `web/` builds."""
    return files("tracekit.render").joinpath(f"assets/{name}").read_text("utf-8")


@cache
def page_colors() -> dict[str, tuple[str, str]]:
    """Colors of pages on light and dark ground, `#rrggbb`: by name (`text`, `c-ane`), and by filled class (`.warm`)."""
    style = _asset("report.css")
    named = re.findall(r"--([\w-]+):\s*light-dark\((#\w+),\s*(#\w+)\)", style)
    colors = {name: (light, dark) for name, light, dark in named}
    filled = re.findall(r"([.\w,-]+)\{fill:var\(--([\w-]+)\)", style)
    return colors | {class_: colors[name] for classes, name in filled for class_ in classes.split(",")}


def line_markup(line: Line) -> Html:
    """A line with its looks; what stands between backticks is code."""
    return join(map(_span, blocks.spans(line)))


def _span(span: blocks.Span) -> Html:
    text, quantity = visible(span.text), span.quantity or None
    if span.picture is not None:
        return Html(span.picture())
    if span.span_ns is not None:
        return tag("span", text, class_="at", data_from=span.span_ns[0], data_to=span.span_ns[1])
    if span.evidence:
        return tag("span", text, class_="place")
    if span.link:
        # A plug-in may name anything: other addresses stay text.
        is_web = span.link.startswith(("https://", "http://"))
        if is_web or span.link.startswith("#") or _BESIDE.fullmatch(span.link):
            # In the frame of a notebook, a page of the web would take the place of the report.
            outside = {"target": "_blank", "rel": "noopener noreferrer"} if is_web else {}
            return tag("a", text, href=span.link, **outside)
        return join([f"{text}: {visible(span.link)}"])
    if text.startswith("tracekit ") and span.role is Role.CODE:
        # A line ends between its words, not within an option.
        return tag("code", join((tag("span", word) for word in text.split(" ")), " "), class_="command")
    if span.role is Role.CODE:
        return prose.code(text, quantity)
    if span.role is Role.STRONG:
        return tag("strong", sentence(text), data_quantity=quantity)
    if span.role in KINDS:
        return tag("span", text, class_=f"badge {KINDS[span.role]}", data_quantity=quantity)
    if span.role is Role.BEST:
        return tag("strong", text, class_="best", data_quantity=quantity)
    if span.role or quantity:
        return tag("span", sentence(text), class_=str(span.role) or None, data_quantity=quantity)
    return sentence(text)


def _html(block: blocks.Block) -> Html | None:
    match block:
        case blocks.Paragraph():
            lead = tag("strong", f"{visible(block.heading)}: ") if block.lead else None
            checks = [span.evidence for span in blocks.spans(block.line) if span.evidence]
            looks = {"class_": "jump", "data_check": checks[0]} if checks else {"class_": str(block.role) or None}
            return tag("p", lead, line_markup(block.line), **looks)
        case blocks.Prose():
            return prose.html_of(visible(block.source, multiline=True))
        case blocks.Items():
            if any(entry.facts for entry in block.entries):
                return join(map(_entry, block.entries))
            return tag("ul", *(tag("li", line_markup(entry.head)) for entry in block.entries), class_="notes")
        case blocks.Card():
            return _card(block, "h3")
        case blocks.Section():
            body = [_html(inner) for inner in block.blocks]
            note = tag("p", f"{block.note[0].upper()}{block.note[1:]}.", class_="dim") if block.note else None
            if block.folded:
                inner = join((note, *body))
                return tag("details", tag("summary", visible(block.title)), inner) if inner else None
            return tag("section", tag("h2", visible(block.title)), note, *body, id=block.name or None)
        case blocks.Table():
            return grid(block)
        case blocks.Figure():
            return Html(block.markup)


def _card(block: blocks.Card, heading: str) -> Html:
    """A card; `heading` is the element of its title."""
    kind = KINDS.get(block.tone, str(block.tone))
    badge = tag("span", block.label.capitalize(), class_=f"badge {kind}")
    check = tag("p", tag("code", block.check), class_="savings") if block.check else None
    head = tag("header", tag(heading, badge, " ", visible(block.title)), check)
    name = f"finding-{block.check}" if block.check else None
    return tag("article", head, *map(_html, block.blocks), id=name, class_=f"finding {kind}")


def _entry(entry: blocks.Entry) -> Html:
    facts = [join([tag("dt", visible(label)), tag("dd", line_markup(words))]) for label, words in entry.facts]
    head = tag("h3", line_markup(entry.head)) if entry.head else None
    return tag("article", head, tag("dl", *facts) if facts else None, class_="entry")


def _broken(name: str) -> Html:
    """A name that goes on in another line after `_` and before `.`, where one is not enough."""
    return join(re.split(r"(?<=_)|(?=\.)", name), Html("<wbr>"))


def grid(block: blocks.Table[Any]) -> Html:
    """A table that can be read without scripts, and sorted and searched with them. On a phone its rows become
    paragraphs, unless it has many columns: then those that can go are left out, and the first name stays in place. One
    whose columns are alike stands in groups of rows below their heading."""
    group = next((column for column in block.columns if column.heading), None) if block.parts else None
    columns = [column for column in block.columns if column is not group]
    wide = len(columns) > WIDE
    narrows = wide and any(column.drop for column in columns)
    if not narrows:
        kinds = [None if column.words else "n" for column in columns]
    else:
        fixed = next((column for column in columns if column.words and not column.drop and not column.heading), None)
        kinds = [
            "n" if not column.words else "minor" if column.drop else "named" if column is fixed else None
            for column in columns
        ]
    titles = [visible(column.title.replace("\n", " ")) for column in columns]
    named = [_broken(title) if group else title for title in titles]
    head = tag(
        "tr",
        *(
            tag("th", title, scope="col", class_=kind) if title or group else tag("td", class_=kind)
            for title, kind in zip(named, kinds, strict=True)
        ),
    )
    rows, last = list[Html](), ""
    for row in block.rows[:ROWS]:
        name = blocks.plain(group.text(row)) if group else ""
        if group and name not in ("", last):
            heading = tag("th", line_markup(group.text(row)), scope="rowgroup", colspan=len(columns))
            rows.append(tag("tr", heading, class_="group"))
        last = name
        rows.append(tag("tr", *map(_cell, columns, [row] * len(kinds), kinds, titles)))
    name, left_out, sorted_ = visible(block.name), len(block.rows) - ROWS, not block.quantities or None
    stays = group is not None or narrows or (block.quantities and len(columns) <= NARROW)
    kinds_of = ("grouped" if group else "wide" if wide else "", "heat" if block.heat else "")
    looks = " ".join(filter(None, (*kinds_of, "" if stays else "stacked"))) or None
    table = tag("table", tag("thead", head), tag("tbody", *rows), aria_label=name, data_filter=sorted_, class_=looks)
    more = tag("p", f"{left_out:,} more in the JSON report", class_="dim") if left_out > 0 else None
    return join([tag("div", table, class_="scroll", tabindex="0", role="region", aria_label=name), more])


def _cell(column: blocks.Column[Any], row: Any, kind: str | None, title: str) -> Html:
    return tag(
        "td",
        line_markup(column.text(row)),
        class_=kind,
        data_v=None if column.value is None else column.value(row),
        data_title=title or None,
        data_quantity=column.quantity or None,
    )
