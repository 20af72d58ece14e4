"""A history as git notes: those of a ref hold the lines of a history file, each on the commit that was recorded.

Notes travel apart from the branches, so no build changes a file of the repository.
"""

from __future__ import annotations

import subprocess

from tracekit.errors import TracekitError, UsageError

REF = "refs/notes/"
"""How the name of notes begins."""


def noted(ref: str) -> list[tuple[str, str]]:
    """Each commit that has a note, in the repository of the current folder, and the text of its note. Raises
    `TracekitError` where git cannot tell."""
    listed = [line.split() for line in _git("notes", f"--ref={ref}", "list").decode().splitlines()]
    # Each object is a line with its size in bytes, its text, and a line break.
    rest = _git("cat-file", "--batch", text="".join(f"{blob}\n" for blob, _ in listed))
    notes = []
    for _, commit in listed:
        head, _, rest = rest.partition(b"\n")
        size = int(head.split()[-1])
        notes.append((commit, rest[:size].decode(errors="replace")))
        rest = rest[size + 1 :]
    return notes


def add_note(ref: str, commit: str | None, line: str) -> None:
    """Add a line to the note on a commit. Raises `TracekitError` where git refuses, `UsageError` without a commit."""
    if commit is None:
        raise UsageError("a note is on a commit; name the one that was recorded with --commit")
    _git("notes", f"--ref={ref}", "append", "-F", "-", "--", commit, text=line)


def _git(*arguments: str, text: str = "") -> bytes:
    try:
        done = subprocess.run(["git", *arguments], input=text.encode(), capture_output=True, check=False)  # noqa: S603, S607 - a list, no shell
    except OSError as error:
        raise TracekitError(f"cannot run git: {error.strerror or error}") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ").removeprefix("error: ")
        raise TracekitError(f"git: {said.splitlines()[0] if said else f'exit status {done.returncode}'}")
    return done.stdout
