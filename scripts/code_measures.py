"""Print how much code there is and how finely it is cut: `python scripts/code_measures.py [FOLDER ...]`.

Without a folder, the package and its tests are measured. Any folder of Python files will do, such as another project's.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONG = 60
"""Lines from which a function counts as long."""
VAGUE = ("each", "known", "chosen", "shown", "said", "found")
"""Names that say nothing of what a local is."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Measures:
    """Counts of one folder. `single_use` are private functions and methods whose name stands in one place of their file
    besides the definition; `long` are `(lines, file, name)`; `vague` counts where a name is bound."""

    lines: int
    per_package: dict[str, int]
    functions: int
    single_use: list[str]
    long: list[tuple[int, str, str]]
    vague: Counter[str]


def functions(tree: ast.Module) -> Iterator[Function]:
    """Every function and method, nested ones too."""
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def names(tree: ast.Module) -> Iterator[str]:
    """Each use of a name: read, imported, or taken from an object."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def bound(tree: ast.Module) -> Iterator[str]:
    """Each place that gives a local or a parameter its name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def measure(folder: Path) -> Measures:
    """Measure the Python files below `folder`. A name counts as used by its spelling."""
    per_package: Counter[str] = Counter()
    vague: Counter[str] = Counter()
    number = 0
    single, long = [], []
    for path in sorted(folder.rglob("*.py")):
        below = path.relative_to(folder)
        text = path.read_text(encoding="utf-8")
        per_package[below.parts[0] if len(below.parts) > 1 else "."] += text.count("\n")
        tree = ast.parse(text)
        uses = Counter(names(tree))
        vague.update(name for name in bound(tree) if name in VAGUE)
        for function in functions(tree):
            number += 1
            private = function.name.startswith("_") and not function.name.endswith("__")
            if private and uses[function.name] == 1:
                single.append(f"{below}: {function.name}")
            length = (function.end_lineno or function.lineno) - function.lineno + 1
            if length > LONG:
                long.append((length, str(below), function.name))
    return Measures(sum(per_package.values()), dict(per_package), number, single, sorted(long, reverse=True), vague)


def main() -> None:
    """Print the measures of each folder; with `--list`, also which functions are meant."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, default=[ROOT / "tracekit", ROOT / "tests"])
    parser.add_argument("--list", action="store_true", help="name the private functions with one use")
    arguments = parser.parse_args()
    for folder in arguments.folders:
        found = measure(folder)
        print(f"{folder.name}: {found.lines:,} lines, {found.functions:,} functions")
        print(f"  functions per 1,000 lines: {1000 * found.functions / max(found.lines, 1):.1f}")
        share = len(found.single_use) / max(found.functions, 1)
        print(f"  private functions with one use: {len(found.single_use):,} ({share:.1%} of all functions)")
        print(f"  functions of more than {LONG} lines: {len(found.long)}")
        for length, file, name in found.long:
            print(f"    {length} {file}: {name}")
        print("  vague names, bound:", ", ".join(f"{name} {found.vague[name]}" for name in VAGUE))
        print("  lines:", ", ".join(f"{name} {lines:,}" for name, lines in sorted(found.per_package.items())))
        if arguments.list:
            print("\n".join(found.single_use))


if __name__ == "__main__":
    main()
