"""Prints the Homebrew formula of a source distribution: `python formula.py coreml_tracekit-0.1.0.tar.gz`.

It is for a tap of the project, not for homebrew-core: packages come as wheels, in the versions of `constraints.txt`,
since numpy, pandas and coremltools take an hour to compile.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

FORMULA = """\
class CoremlTracekit < Formula
  desc "Analyzer for Apple Instruments recordings of on-device machine learning"
  homepage "https://github.com/coreml-tracekit/tracekit"
  url "https://github.com/coreml-tracekit/tracekit/releases/download/v{version}/{name}"
  sha256 "{sha256}"
  license "MIT"

  depends_on "python@3.13"

  # Wheels have no room for the longer names that Homebrew gives libraries, and need none.
  preserve_rpath

  def install
    system "python3.13", "-m", "venv", libexec
    install = [libexec/"bin/python", "-m", "pip", "install", "--no-compile"]
    system *install, "--require-hashes", "--only-binary", ":all:", "-r", "scripts/release/backend.txt"
    system *install, "--no-build-isolation", "--constraint", "constraints.txt", buildpath
    bin.install_symlink libexec/"bin/tracekit"
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/tracekit --version")
    assert_match "reload-before-predict", shell_output("#{{bin}}/tracekit explain")
  end
end
"""


def formula(sdist: Path) -> str:
    """The formula, with the version and the checksum of the file."""
    found = re.fullmatch(r"coreml_tracekit-(\d[\w.]*)\.tar\.gz", sdist.name)
    assert found is not None, f"{sdist.name} is not a source distribution of a release"
    digest = hashlib.sha256(sdist.read_bytes()).hexdigest()
    return FORMULA.format(version=found[1], name=sdist.name, sha256=digest)


if __name__ == "__main__":
    print(formula(Path(sys.argv[1])), end="")
