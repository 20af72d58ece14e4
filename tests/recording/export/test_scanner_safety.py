"""No byte of input harms the scanner: it is built with sanitizers here and given damaged input."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from support.scanner import ROOT, build, compiler

SANITIZERS = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DSCAN_FAILING_MEMORY", "-DRECENT=1")

SOME, EVERY = ("30", "16"), ("3000", "1")
"""How many damaged documents, and how many bytes from one end of a chunk to the next. A sanitized build takes seconds
for each end of the small document; the ordinary build is tried with all of them in each run."""


def library(name: str) -> str | None:
    """Path of a library of the compiler; None where it has none of that name."""
    printed = subprocess.run([str(compiler()), f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    path = printed.stdout.strip()
    return path if os.path.isabs(path) and os.path.exists(path) else None  # noqa: PTH110, PTH117 - what gcc prints


@pytest.mark.sweep
@pytest.mark.skipif(sys.platform != "linux", reason="sanitizers are loaded before Python, which is tried on Linux")
@pytest.mark.skipif(compiler() is None, reason="there is no C compiler with the headers of Python")
def test_damaged_input_and_failing_memory_do_no_harm(request, tmp_path):
    sanitizer = library("libasan.so")
    if sanitizer is None:
        pytest.skip("the compiler has no address sanitizer")
    build(tmp_path, *SANITIZERS)
    environment = os.environ | {
        "LD_PRELOAD": sanitizer,
        # What Python keeps to the end is no leak of the scanner.
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(ROOT),
    }
    script = ROOT / "tests" / "support" / "scanner_abuse.py"
    result = subprocess.run(
        [sys.executable, str(script), str(tmp_path), *(EVERY if request.config.getoption("--every-case") else SOME)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=500,
    )
    assert result.returncode == 0, result.stderr[-4000:]
    assert "sound after" in result.stdout


@pytest.mark.sweep
@pytest.mark.skipif(compiler() is None, reason="there is no C compiler with the headers of Python")
def test_the_scanner_compiles_without_a_warning(tmp_path):
    build(tmp_path, "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden")


def test_no_format_has_a_length_of_its_own():
    """Compiled with the headers of Python 3.13, formats with "#" fail in Python 3.11 and 3.12, which load the same
    file."""
    formats = re.compile(r'(?:BuildValue|CallMethod|ParseTuple)\([^;]*"[^"%]*#')
    sources = sorted((ROOT / "tracekit" / "recording" / "export" / "scan").glob("*.[ch]"))
    assert sources
    assert formats.search('PyObject_CallMethod(host, "mode", "s#", name, length);')
    assert [path.name for path in sources if formats.search(path.read_text())] == []
