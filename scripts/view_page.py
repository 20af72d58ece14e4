"""Write the pictures of `tracekit view`, `tracekit why` and an HTML report in `docs/pictures/`, and the tables of keys
and mouse in `docs/view.md` again. The picture of the report needs Chromium, `npm ci` in web/, and `../shared/corpus`.
"""

from __future__ import annotations

import argparse
import asyncio
import html
import io
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from tracekit.api import analysis_of, explain
from tracekit.documents.report import report_file
from tracekit.documents.why import why_document
from tracekit.render.forms import FILE_WIDTH, render
from tracekit.trace.build import open_trace
from tracekit.tui.app import ACTIONS, ViewApp
from tracekit.tui.keys import Scope, Section, key_signs
from tracekit.tui.opening import Viewed
from tracekit.tui.screens.help import MOUSE

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "sample_traces"
PICTURES: dict[str, tuple[str, tuple[str, ...]]] = {
    "view": ("style_transfer_reload", ("1", "enter", "down", "enter", "s", "s", "s")),
    "predictions": ("captions_concurrent", ("4", "down", "down", "f", "s", "T")),
    "compare": ("sharpen_8bit sharpen_float16", ()),
    "runtimes": ("local_chat", ()),
    "language-models": ("meal_planner", ()),
    "memory": ("album_memory", ()),
}
"""Name of the picture, samples, keys that lead there."""
REPORTED = ROOT.parent / "shared/corpus/bundles/quick_probe.trace"
"""Whose report the README shows: a real recording, in which Core ML recorded nothing."""
SIZE = (130, 36)
KEYS_BEGIN, KEYS_END = "<!-- keys: scripts/view_page.py -->", "<!-- end of keys -->"
_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_PLACES = {Scope.TIMELINE: " (timeline)", Scope.LIST: " (lists)", Scope.APP: ""}


def picture(name: str) -> str:
    """SVG of a screen. It asks for no font from elsewhere: the width of every text is fixed in it."""
    samples, keys = PICTURES[name]
    paths = tuple(str(SAMPLES / f"{sample}.trace") for sample in samples.split())

    async def shot() -> str:
        app = ViewApp(Viewed(paths))
        async with app.run_test(size=SIZE) as pilot:
            for key in ("", *keys):
                if key:
                    await pilot.press(key)
                await app.workers.wait_for_complete()
                await pilot.pause()
                await pilot.pause()
            return app.export_screenshot(title=f"tracekit view {' '.join(f'{s}.trace' for s in samples.split())}")

    svg = re.sub(r"@font-face \{.*?\}\s*", "", asyncio.run(shot()), flags=re.DOTALL)
    svg = re.sub(r"terminal-\d+-", "t-", svg.replace("Fira Code, monospace", _FONT))
    return _TEXT.sub(_words, svg)


def why_picture() -> str:
    """SVG of what `tracekit why` prints."""
    trace = open_trace(SAMPLES / "captions_concurrent.trace")
    text = render(why_document(explain(trace)), "text", width=FILE_WIDTH, color=True, verbose=False)
    line = "tracekit why captions_concurrent.trace"
    console = Console(record=True, width=FILE_WIDTH, file=io.StringIO())
    console.print(Text.from_ansi(f"$ {line}\n{text}"), soft_wrap=True)
    svg = console.export_svg(title=line, unique_id="terminal-1")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return _TEXT.sub(_words, re.sub(r"terminal-\d+-", "t-", svg.replace("Fira Code, monospace", _FONT)))


_TEXT = re.compile(r'<text class="(t-r\d+)" x="([\d.]+)" y="([\d.]+)" textLength="([\d.]+)" ([^>]*)>([^<]*)</text>')
_BLANK = "\xa0"


def _words(found: re.Match[str]) -> str:
    """A text without the blanks around and in it, each word where it stood: some programs ignore leading blanks, and
    the width of the whole."""
    look, left, top, length, clip, content = found.groups()
    text = html.unescape(content).replace("\n", "")
    cell = float(length) / max(cell_len(text), 1)
    pieces = []
    for piece in re.finditer(f"[^{_BLANK}]+(?:{_BLANK}[^{_BLANK}]+)*", text):
        x = float(left) + cell_len(text[: piece.start()]) * cell
        words = html.escape(piece[0], quote=False).replace(_BLANK, "&#160;")
        size = f'x="{x:.1f}" y="{top}" textLength="{cell_len(piece[0]) * cell:.1f}"'
        pieces.append(f'<text class="{look}" {size} {clip}>{words}</text>')
    return "".join(pieces)


def report_picture(file: Path) -> None:
    """The first screen of the HTML report, where all that it needs is there."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    node = shutil.which("node")
    if chromium is None or node is None or not (ROOT / "web/node_modules").is_dir() or not REPORTED.exists():
        print(f"{file.name} stays as it is: it needs Chromium, Node, `npm ci` in web/, and {REPORTED.name}")
        return
    analysis = analysis_of(REPORTED)
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, "report.html")
        written.write_text(report_file(analysis.report, "html", analysis.timeline()), encoding="utf-8")
        subprocess.run([node, ROOT / "web/test/picture.mjs", chromium, written, file.resolve()], check=True)


def keys_text() -> str:
    """The tables of keys and mouse in Markdown."""
    blocks = []
    for section in Section:
        rows = [action for action in ACTIONS if action.section is section]
        blocks.append(f"### {section}\n\n| keys | does |\n|---|---|")
        blocks[-1] += "".join(
            f"\n| {' '.join(f'`{sign}`' for sign in key_signs(action).split('  '))} | "
            f"{action.help.removesuffix('.')}{_PLACES[action.scope]} |"
            for action in rows
        )
    mouse = "".join(f"\n| {what} | {does} |" for what, does in MOUSE)
    return "\n\n".join([*blocks, f"### Mouse\n\n| mouse | does |\n|---|---|{mouse}"])


def page(text: str) -> str:
    """The page with its tables of keys written again."""
    before, rest = text.split(KEYS_BEGIN)
    after = rest.split(KEYS_END)[1]
    return f"{before}{KEYS_BEGIN}\n\n{keys_text()}\n\n{KEYS_END}{after}"


def main() -> None:
    """Write pictures and page."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("docs", type=Path, nargs="?", default=ROOT / "docs", help="folder of the page (docs)")
    docs = arguments.parse_args().docs
    (docs / "pictures").mkdir(parents=True, exist_ok=True)
    for name in PICTURES:
        (docs / "pictures" / f"{name}.svg").write_text(picture(name), encoding="utf-8")
    (docs / "pictures" / "why.svg").write_text(why_picture(), encoding="utf-8")
    report_picture(docs / "pictures" / "report.png")
    text = (ROOT / "docs" / "view.md").read_text(encoding="utf-8")
    (docs / "view.md").write_text(page(text), encoding="utf-8")


if __name__ == "__main__":
    main()
