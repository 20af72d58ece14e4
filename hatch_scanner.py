"""Builds the compiled scanner of exports where a C compiler is there; without one, the package is pure Python. What is
built says its version in itself, so that a wheel made of a source distribution has the same."""

from __future__ import annotations

import os
import re
import shutil
import sysconfig
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MODULE = "tracekit.recording.export._scan"
VERSION = "tracekit/_version.py"
SOURCES = Path("tracekit/recording/export/scan")


class PackageHook(BuildHookInterface[Any]):
    """Compiles the extension into the package, from where the wheel takes it, and writes the version."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build, and say what the wheel is for: any machine, or this kind with any Python from 3.11 on."""
        if version != "editable":
            stated = self.folder / "_version.py"
            text = (Path(self.root) / VERSION).read_text(encoding="utf-8")
            stated.write_text(re.sub('".*"\n$', f'"{self.metadata.version}"\n', text), encoding="utf-8")
            build_data["force_include"][str(stated)] = VERSION
        if self.target_name == "wheel":
            self._add_scanner(build_data)

    def finalize(self, _version: str, _build_data: dict[str, Any], _artifact: str) -> None:
        """Remove what was written for this build alone."""
        shutil.rmtree(self.folder)

    @cached_property
    def folder(self) -> Path:
        """A folder of this build."""
        return Path(tempfile.mkdtemp())

    def _add_scanner(self, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        for stale in (root / SOURCES.parent).glob("_scan.*.so"):
            stale.unlink()
        built = compiled(root)
        if built is None:
            self.app.display_warning("No C compiler: exports will be read with the strict reader, which is slower.")
            return
        build_data["artifacts"].append(built.as_posix())
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform_tag()}"


def compiled(root: Path) -> Path | None:
    """Compile the extension in place. Its path within the checkout, or None where that is not possible."""
    try:
        from setuptools import Distribution, Extension
    except ImportError:
        return None
    extension = Extension(
        MODULE,
        sources=[path.relative_to(root).as_posix() for path in sorted((root / SOURCES).glob("*.c"))],
        depends=[path.relative_to(root).as_posix() for path in sorted((root / SOURCES).glob("*.h"))],
        # Without debugging data, which names the folder of the build: two builds of a source are the same to the byte.
        extra_compile_args=["/std:c11"] if os.name == "nt" else ["-std=c11", "-O3", "-fvisibility=hidden", "-g0"],
        py_limited_api=True,
        # A compiler that is missing or fails is a warning.
        optional=True,
    )
    command: Any = Distribution({"ext_modules": [extension]}).get_command_obj("build_ext")
    command.inplace = True
    with tempfile.TemporaryDirectory() as folder:
        command.build_temp = command.build_lib = folder
        command.ensure_finalized()
        command.run()
    path = Path(command.get_ext_fullpath(MODULE))
    return (root / path).relative_to(root) if (root / path).exists() else None


def platform_tag() -> str:
    """The kind of machine, as the names of wheels say it."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")
