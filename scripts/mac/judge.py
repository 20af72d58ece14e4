"""Judges what `record.sh` recorded: `python judge.py FOLDER PLAN`. Writes `summary.md`; exit status 1 where it failed.

A recording fails where Core ML's table has no rows, tracekit counts other loads or predictions than the program made, a
planted problem is not found, or is found where it was not planted, and where the readers disagree. Event strings and
columns that the vocabulary does not know are listed.
"""

from __future__ import annotations

import json
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

READERS = ("native", "xctrace", "export")


@dataclass(frozen=True)
class Planned:
    """A line of the plan."""

    mode: str
    loads: int
    predictions: int
    problems: frozenset[str]
    """Checks of which at least one must find something; empty for a program without a problem."""


def planned(path: Path) -> list[Planned]:
    """The lines of the plan."""
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    return [
        Planned(mode, int(loads), int(predictions), frozenset(problem.split("/")) - {"-"})
        for mode, _model, loads, predictions, problem in lines
    ]


def judged(folder: Path, name: str, plan: Planned, all_problems: frozenset[str]) -> tuple[list[str], list[str]]:
    """What is wrong with a recording, and the cells of its row in the summary."""
    reports = {reader: _json(folder / f"{name}.{reader}.json") for reader in READERS}
    lost = [reader for reader, report in reports.items() if report is None]
    native = reports["native"]
    if native is None:
        return [f"{name}: no report; see the log of {' and '.join(lost)}"], [name, *["–"] * 6]
    wrong = [f"{name}: no report of {reader}" for reader in lost]
    with zipfile.ZipFile(folder / f"{name}.zip") as archive:
        core_ml = json.loads(archive.read("core-ml-rows.json"))
    rows = sum(len(table["rows"]) for table in core_ml["tables"])
    loads, predictions = counts(native)
    found = {finding["id"] for finding in native["findings"]}
    if not rows:
        wrong.append(f"{name}: Core ML's table has no rows")
    if (loads, predictions) != (plan.loads, plan.predictions):
        made = f"{plan.loads} loads and {plan.predictions} predictions"
        wrong.append(f"{name}: {loads} loads and {predictions} predictions, but the program made {made}")
    if plan.problems and not plan.problems & found:
        wrong.append(f"{name}: {' or '.join(sorted(plan.problems))} was planted and not found")
    # One problem may bring another of these with it; a program without any has none of them.
    wrong += [f"{name}: {each} was found and not planted" for each in sorted(found & all_problems) if not plan.problems]
    for reader in READERS[1:]:
        wrong += [f"{name}: {said}" for said in differences(native, reports[reader], reader, all_problems)]
    unknown = [*core_ml["unknown_events"], *(f"column {each}" for each in core_ml["unknown_columns"])]
    cells = [name, f"{rows:,}", str(loads), str(predictions), ", ".join(sorted(found)) or "none"]
    return wrong, [*cells, "; ".join(unknown) or "none", "yes" if not wrong else "**no**"]


def counts(report: dict[str, Any]) -> tuple[int, int]:
    """Loads and predictions of all models."""
    return tuple(sum(model[key] or 0 for model in report["models"]) for key in ("loads", "predictions"))  # type: ignore[return-value]


def differences(
    native: dict[str, Any], other: dict[str, Any] | None, reader: str, problems: frozenset[str]
) -> list[str]:
    """What another reader says otherwise. An export lacks call stacks and more, so of its findings only those count
    that may be planted."""
    if other is None:
        return []
    said = []
    if counts(native) != counts(other):
        said.append(f"{reader}: {counts(other)} loads and predictions, native: {counts(native)}")
    ids = [{finding["id"] for finding in report["findings"]} for report in (native, other)]
    if reader == "export":
        ids = [each & problems for each in ids]
    if ids[0] != ids[1]:
        said.append(f"{reader}: finds {sorted(ids[1])}, native: {sorted(ids[0])}")
    return said


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def main(folder: Path, plan_path: Path) -> int:
    """Exit status."""
    plans = planned(plan_path)
    problems = frozenset().union(*(plan.problems for plan in plans))
    results = [judged(folder, name, plan, problems) for plan in plans for name in (plan.mode, f"{plan.mode}-alone")]
    wrong = [sentence for sentences, _ in results for sentence in sentences]
    heading = ["recording", "rows of Core ML", "loads", "predictions", "findings", "not known", "as planted"]
    lines = [
        f"**{'As planted' if not wrong else f'{len(wrong)} not as planted'}**", "",
        f"| {' | '.join(heading)} |", f"|{'---|' * len(heading)}",
        *(f"| {' | '.join(cells)} |" for _, cells in results), "",
        *(f"- {sentence}" for sentence in wrong), "",
        "```", (folder / "machine.txt").read_text(encoding="utf-8").rstrip(), "```",
    ]  # fmt: skip
    if (packages := folder / "packages.md").exists():
        lines += ["", packages.read_text(encoding="utf-8").rstrip()]
    (folder / "summary.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
