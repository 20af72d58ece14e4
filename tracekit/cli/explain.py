"""`tracekit explain`: a line for each check, the page of one, or the symptoms of the Core ML diagnostic tree as a
recording answers them; `tracekit completion`: a script for a shell."""

from __future__ import annotations

import json
import os
import re
from argparse import Namespace
from typing import TYPE_CHECKING

from tracekit.characters import printable
from tracekit.cli.commands import COMMANDS
from tracekit.cli.dispatch import build_parser, check_there
from tracekit.cli.options import OPTIONS, PARTS, refuse
from tracekit.cli.output import emit, has_color, is_terminal, width
from tracekit.cli.process import ExitStatus
from tracekit.detectors.pages import GENERATED, own_page, unknown_check
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderResult

    from tracekit.render.blocks import Document

_LABEL = re.compile(r"^(.*?) {2,}((?:problem|expected)\b.*)$", re.MULTILINE)
"""What stands beside a line of a drawing."""
LIST_WIDTH, WIDEST = 80, 100
"""Of the list in a pipe, and of a page: longer lines of prose are hard to read, however wide the terminal."""


def run(arguments: Namespace) -> ExitStatus:
    """Print the list, or pages: laid out on a terminal, as Markdown in a pipe; of a recording, its symptoms."""
    if any(map(_is_path, arguments.checks)):
        return _run_symptoms(arguments)
    refuse(arguments, "output open verbose model process from to signpost run", "is for a recording, not for checks")
    if arguments.format not in (None, "text", "json"):
        raise UsageError("checks are listed as text and JSON; Markdown and HTML are for a recording")
    if not arguments.checks or arguments.format == "json":
        from tracekit.cli.forms import print_document
        from tracekit.detectors.plugins import listed_detectors
        from tracekit.documents.checks import checks_document, facts_of

        detectors = listed_detectors()
        by_id = {detector.id: detector for detector in detectors}
        for name in arguments.checks:
            if name not in by_id:
                raise unknown_check(name, by_id)
        if arguments.format == "json":
            facts = [facts_of(by_id[name]) for name in arguments.checks or by_id]
            emit(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", utf8=True)
        else:
            print_document(checks_document(detectors), fallback=LIST_WIDTH)
        return ExitStatus.DONE
    page = "\n".join(printable(own_page(name) or _listed_page(name)) for name in arguments.checks)
    emit(_laid_out(page) if is_terminal() else page, styled=is_terminal())
    return ExitStatus.DONE


def _is_path(name: str) -> bool:
    """Whether a recording is meant: ids of checks have neither dots nor slashes."""
    return not re.fullmatch(r"[\w-]*", name) or name == "-" or os.path.exists(name)  # noqa: PTH110


def _run_symptoms(arguments: Namespace) -> ExitStatus:
    """Analyze, and walk the tree."""
    if len(arguments.checks) == 1:
        check_there(arguments.checks[0])
    # Pages of checks need none of what reads recordings.
    from tracekit.cli.forms import deliver, files_of
    from tracekit.cli.reading import showing_log, tell_unreadable
    from tracekit.cli.requests import analyze_with_progress, request_from
    from tracekit.documents.advice import diagnosis_document
    from tracekit.documents.diagnosis import diagnose
    from tracekit.report.serialize import to_json

    files = files_of(arguments, arguments.checks)
    with showing_log(arguments.verbose):
        analysis = analyze_with_progress(arguments.checks, request_from(arguments), quiet=arguments.quiet)
    diagnosis = diagnose(analysis.report)

    def document(form: str) -> Document:
        return diagnosis_document(diagnosis, everything=arguments.verbose or form != "text")

    deliver(arguments, files, document, {"json": lambda: to_json(diagnosis)})
    unusable = tell_unreadable(analysis.report.recording.source, analysis.report.tables)
    return unusable or (ExitStatus.DONE if analysis.report.summary.evaluated else ExitStatus.INCONCLUSIVE)


def _listed_page(name: str) -> str:
    # Plug-ins are written with all that rules are, which takes a second to load.
    from tracekit.detectors.explanation import listed_page

    return listed_page(name)


def _laid_out(page: str) -> str:
    # A pipe gets the page as it is.
    from rich.console import Console
    from rich.markdown import CodeBlock, Markdown
    from rich.syntax import Syntax
    from rich.theme import Theme

    class Code(CodeBlock):
        """Lines of code and drawings stay whole: half a comment cannot be copied."""

        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            text = str(self.text).rstrip()
            if any(len(line) > options.max_width for line in text.splitlines()):
                text = "\n\n".join(map(_label_above, text.split("\n\n")))
            code = Syntax("", self.lexer_name, theme=self.theme).highlight(text)
            code.rstrip()
            code.overflow = "ignore"
            yield code

    class Page(Markdown):
        elements = Markdown.elements | {"fence": Code, "code_block": Code}

    # rich's own styles put code on black, which is a hole in a light terminal.
    theme = Theme({"markdown.code": "bold cyan", "markdown.code_block": "cyan"})
    console = Console(no_color=not has_color(), width=min(width(WIDEST), WIDEST), theme=theme)
    with console.capture() as capture:
        # Not every terminal can follow a link that it does not show.
        console.print(Page(page, code_theme="ansi_light", hyperlinks=False), crop=False)
    return capture.get()


def _label_above(drawing: str) -> str:
    """A drawing whose labels stand above what they are beside."""
    [first, *others] = _LABEL.findall(drawing) or [("", "")]
    if others or not first[1]:
        return _LABEL.sub(r"\2\n\1", drawing)
    return f"{first[1]}\n{_LABEL.sub(lambda match: match[1], drawing)}"


def run_completion(arguments: Namespace) -> ExitStatus:
    """Print the script."""
    # Nothing else needs them.
    from importlib.metadata import entry_points

    import shtab

    # What completes a value that help calls so.
    kinds = dict.fromkeys(("PATH", "OTHER", "MODEL", "FILE"), shtab.FILE) | {"DIR": shtab.DIRECTORY}
    parser = build_parser()
    checks = list(json.loads(GENERATED.read_text("utf-8")))
    # Each new shell asks for the script, and to load all checks takes longer than all else of it.
    if entry_points(group="tracekit.detectors"):
        from tracekit.detectors.plugins import listed_detectors

        checks = [detector.id for detector in listed_detectors()]
    choices = {option.value: option.choices for option in OPTIONS.values() if option.choices} | {"PARTS": PARTS}
    choices |= {
        argument.shown: argument.choices for command in COMMANDS for argument in command.arguments if argument.choices
    }
    for command in parser.commands.values():
        of_command = choices | {"CHECK": checks, "FORMAT": command.get_default("forms")}
        for action in command._actions:  # noqa: SLF001 - argparse offers no public way to list arguments
            metavar = str(action.metavar).rpartition("]")[2] if isinstance(action.metavar, str) else ""
            if metavar in kinds:
                action.complete = kinds[metavar]  # type: ignore[attr-defined] # shtab's own convention
            elif metavar in of_command:
                action.choices = of_command[metavar]
    emit(str(shtab.complete(parser, arguments.shell)))
    return ExitStatus.DONE
