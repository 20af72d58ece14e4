"""What `tracekit export` does for other viewers: one file with the timeline and the findings, and `--open`. No link
opens a local file in the Perfetto UI, so the file is handed over by a server of one request. The page accepts
`http://127.0.0.1:9001` besides https; its script fetches the file, so the data stays in the browser."""

from __future__ import annotations

import secrets
import webbrowser
from argparse import Namespace
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from tempfile import mkdtemp
from time import monotonic
from typing import BinaryIO
from urllib.parse import quote

from tracekit.cli.forms import check_output, size_words
from tracekit.cli.output import narrate, tell
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import tell_unreadable
from tracekit.cli.requests import analyze_with_progress, request_from
from tracekit.errors import TracekitError
from tracekit.recording.writing.files import complete_file, make_folder
from tracekit.report.viewers.tracks import Tracks, tracks_of
from tracekit.units import format_count

PAGE = "https://ui.perfetto.dev"
HOST, PORT = "127.0.0.1", 9001
"""The only address without https that the page may fetch from."""
WAIT_SECONDS = 120
"""How long a browser may take to start and to load the page (heuristic)."""
_BLOCK = 1 << 20


def export_timeline(arguments: Namespace, file: Path | None, form: str) -> ExitStatus:
    """Write the timeline to a file, else to a temporary one, and open it where that is wanted."""
    write = writer_of(form)
    path = file or Path(mkdtemp(prefix="tracekit-"), "timeline.json")
    check_output(path, arguments.path)
    # Findings by the config file that applies here, as `tracekit analyze` has them.
    analysis = analyze_with_progress(arguments.path, request_from(arguments), quiet=arguments.quiet)
    tracks = tracks_of(analysis.report, analysis.timeline())
    make_folder(path.parent)
    # A link stays one: what it leads to is written.
    with complete_file(path.resolve()) as stream:
        write(tracks, stream)
    count = format_count(sum(len(track.slices) for track in tracks.slices), "interval")
    tell(arguments, f"wrote {path} with {count}{size_words(path.stat().st_size)}")
    if arguments.open:
        open_in_perfetto(path)
    return tell_unreadable(analysis.report.recording.source, analysis.report.tables)


def writer_of(form: str) -> Callable[[Tracks, BinaryIO], None]:
    """What writes a file of this form. Raises `TracekitError` where a package for it is not installed."""
    if form == "chrome":
        from tracekit.report.viewers.chrome import write_chrome

        return write_chrome
    from tracekit.report.viewers.perfetto import check_available, write_perfetto

    check_available()
    return write_perfetto


class _Server(HTTPServer):
    """Knows the file that it hands out, and whether that was done."""

    # A former connection that is still closing must not keep the port.
    allow_reuse_address = True
    timeout = 1.0

    def __init__(self, file: Path) -> None:
        super().__init__((HOST, PORT), _Handler)
        self.file = file
        # Other programs on this machine cannot guess it.
        self.path = f"/{secrets.token_urlsafe(16)}/{quote(file.name)}"
        self.is_done = False

    def handle_error(self, *_: object) -> None:
        """A connection that broke says nothing of the next one."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    # A connection that sends nothing, as browsers open some in advance, must not keep the page waiting.
    timeout = 5.0

    def do_GET(self) -> None:
        """The file, at its address; nothing else is there."""
        if self.path != self.server.path:
            self.send_error(404)
            return
        with self.server.file.open("rb") as stream:
            self.send_response(200)
            self.send_header("Content-Type", "application/octet-stream")
            self.send_header("Content-Length", str(self.server.file.stat().st_size))
            self.send_header("Access-Control-Allow-Origin", PAGE)
            self.end_headers()
            while block := stream.read(_BLOCK):
                self.wfile.write(block)
        self.server.is_done = True

    def log_message(self, *_: object) -> None:
        """Nothing on standard error."""


def _by_hand(file: Path) -> str:
    return f"open {PAGE} and drag {file} into the page"


def open_in_perfetto(file: Path) -> None:
    """Open a file in a browser, if there is one, until the page has it. Raises `TracekitError` where it never comes."""
    try:
        server = _Server(file)
    except OSError as error:
        raise TracekitError(
            f"cannot serve {file} at {HOST}:{PORT}, the only address that the Perfetto UI accepts: "
            f"{error.strerror or error}; {_by_hand(file)}"
        ) from error
    with server:
        address = f"{PAGE}/#!/?url=http://{HOST}:{PORT}{server.path}"
        narrate(f"tracekit: opening {address}")
        narrate(
            f"tracekit: the page comes from {PAGE.removeprefix('https://')} over the network; the recording stays on "
            "this machine (Ctrl-C to stop)"
        )
        if not webbrowser.open(address):
            narrate(f"tracekit: no browser could be started; {_by_hand(file)}")
            return
        give_up = monotonic() + WAIT_SECONDS
        while not server.is_done:
            if monotonic() > give_up:
                raise TracekitError(f"the Perfetto UI did not load {file} within {WAIT_SECONDS} s; {_by_hand(file)}")
            server.handle_request()
