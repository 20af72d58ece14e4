"""Runs a sanitized build of the scanner on damaged input, and lets its memory fail. Any harm ends the process.

LD_PRELOAD=libasan.so python tests/support/scanner_abuse.py FOLDER_OF_THE_BUILD RUNS STEP

RUNS documents are damaged; chunks end, and the document is cut off, at every STEPth byte.
"""

from __future__ import annotations

import random
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

NAME = "tracekit.recording.export._scan"
NO_PARTS = (
    b"<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>"
    b'<schema name="sample"><col><mnemonic>process</mnemonic><name>P</name><engineering-type>process</engineering-type>'
    b'</col></schema><row><process id="1" fmt="app (42)"/></row>\n</node></trace-query-result>\n'
)
"""An export in which no cell is put together from others, so that the scanner never reserves memory for parts."""


def load(path: Path) -> ModuleType:
    """The build, in the place of the installed scanner."""
    loader = ExtensionFileLoader(NAME, str(path))
    spec = spec_from_loader(NAME, loader)
    assert spec is not None
    sys.modules[NAME] = module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def main() -> None:
    """Command line."""
    module = load(Path(sys.argv[1]) / "_scan.abi3.so")
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from support.fuzz_export import base_documents, broken
    from support.fuzz_scanner import mutated
    from support.scanner import document, many_rows, repeating_document, scan, small_document

    small = small_document()
    assert scan(small) is not None
    assert scan(NO_PARTS) is not None
    assert scan(many_rows()) is not None
    assert scan(repeating_document()) is not None
    assert scan(document("string", ["<string/>"])) is not None
    runs, step = map(int, sys.argv[2:])
    for border in range(1, len(small), step):
        assert scan(small, (border,)) is not None
        scan(small[:border])
    failures = 0
    while True:
        module.fail_after(failures)
        try:
            done = scan(small, (700, 1900)) is not None
        except MemoryError:
            done = False
        finally:
            module.fail_after(-1)
        if done:
            break
        failures += 1
    assert failures > 50, failures
    rng = random.Random(1)  # noqa: S311 - no secret
    documents = [small, repeating_document(), *base_documents()]
    for _ in range(runs):
        scan(mutated(rng, rng.choice(documents), documents), (rng.randrange(1, 200),))
        scan(broken(rng, documents))
    sys.stdout.write(f"sound after {failures} failures of memory\n")


if __name__ == "__main__":
    main()
