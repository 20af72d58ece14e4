"""Reading a bundle through `xctrace export`: the table of contents, then one file per wanted schema."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tracekit.errors import TracekitError, UnreadableRecording
from tracekit.recording.contents import Contents, Run, chosen_run
from tracekit.recording.direct import open_directly
from tracekit.recording.quoting import table_xpath
from tracekit.recording.xctrace.running import run_command
from tracekit.recording.xctrace.tool import TIMEOUT_S, Tool, failure, first_line

ATTEMPTS: Final = 5
"""How often `Document Missing Template Error`, which comes and goes, is tried again."""
CRASHES: Final = 2
"""How often a call may crash: the next one can succeed, but each takes its time."""
PAUSE_S: Final = 1.0
_INTERMITTENT: Final = "Document Missing Template"
_NO_NODE: Final = re.compile(rb"\s*(<\?xml[^>]*>)?\s*<trace-query-result>\s*</trace-query-result>\s*")
UNFINISHED: Final = (
    "the recording is incomplete; if its bundle contains Trace1.run/Attachments/trace-data.atrc, recover it with "
    "`xcrun xctrace import --input …/trace-data.atrc --template 'Core ML' --output recovered.trace`, which loses its "
    "Core ML rows, or record again"
)


@dataclass(slots=True)
class Exported:
    """What came out of a bundle."""

    run: Run
    files: list[Path] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    """Schema and reason of each table that could not be had."""


@dataclass(frozen=True, slots=True)
class Exporter:
    """How tables are asked for."""

    tool: Tool
    trace: Path
    timeout_s: float = TIMEOUT_S

    def export(
        self, folder: Path, run: int | None, schemas: Collection[str], progress: Callable[[int, int, str], None]
    ) -> Exported:
        """Write `toc.xml` and a file for each schema into a folder.

        run: the latest by default. schemas: all of the table of contents by default; one call each, and none for what
        it does not list. progress: called with number, count and schema before each call. A table that fails does not
        keep the others back.

        Raises `TracekitError` where the table of contents cannot be had, `UsageError` for a run that it does not list.
        """
        toc = folder / "toc.xml"
        runs = {run.number: run for run in self.contents(folder).runs}
        wanted_run = runs[chosen_run(list(runs), run, self.trace.name)[0]]
        listed = list(dict.fromkeys(entry.schema for entry in wanted_run.tables))
        result = Exported(wanted_run, [toc])
        wanted = [schema for schema in listed if not schemas or schema in schemas]
        for number, schema in enumerate(wanted, 1):
            progress(number, len(wanted), schema)
            path = folder / f"{number}.xml"
            try:
                xpath = table_xpath(wanted_run.number, schema)
                if not xpath:
                    raise UnreadableRecording("its name cannot be used in an XPath")
                self._call(path, "--xpath", xpath)
                with path.open("rb") as stream:
                    beginning = stream.read(4096)
                    stream.seek(max(0, path.stat().st_size - 200))
                    end = stream.read()
                if _NO_NODE.fullmatch(beginning):
                    raise UnreadableRecording("xctrace lists this table but did not export it")
                if b"<node" not in beginning:
                    raise UnreadableRecording("xctrace exported no table")
                if b"</trace-query-result>" not in end:
                    raise UnreadableRecording("the export from xctrace is cut off, although xctrace reported success")
                result.files.append(path)
            except TracekitError as error:
                path.unlink(missing_ok=True)
                result.failures.append((schema, str(error)))
        return result

    def contents(self, folder: Path) -> Contents:
        """Write `toc.xml` into a folder, and what it says. Raises `TracekitError` where it cannot be had."""
        toc = folder / "toc.xml"
        self._call(toc, "--toc")
        return open_directly([toc], schemas=()).contents

    def _call(self, output: Path, *what: str) -> None:
        """One `xctrace export`. Raises `TracekitError` unless it succeeded and wrote the file."""
        command = [*self.tool, "export", "--input", str(self.trace), "--output", str(output), *what]
        for attempt in range(1, ATTEMPTS + 1):
            output.unlink(missing_ok=True)
            completed = run_command(command, self.timeout_s)
            if not completed.status and not completed.timed_out:
                if output.is_file():
                    return
                raise UnreadableRecording("xctrace export reported success but wrote nothing")
            intermittent = _INTERMITTENT in completed.errors or (completed.crashed and attempt < CRASHES)
            if not intermittent or attempt == ATTEMPTS:
                break
            time.sleep(PAUSE_S)
        if not completed.timed_out and any(word in completed.errors for word in (_INTERMITTENT, "Trace is malformed")):
            raise UnreadableRecording(f"{first_line(completed.errors)}; {UNFINISHED}")
        if completed.crashed:
            status = completed.status
            raise TracekitError(f"xctrace crashed {CRASHES} times (exit status {status}); its output was discarded")
        raise failure("xctrace export", completed, self.timeout_s)
