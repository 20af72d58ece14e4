"""Builds the compiled scanner of exports where a C compiler is there; without one, the package is pure Python."""

from __future__ import annotations

import os
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MODULE = "tracekit.recording.export._scan"
SOURCES = Path("tracekit/recording/export/scan")


class ScannerHook(BuildHookInterface[Any]):
    """Compiles the extension into the package, from where the wheel takes it."""

    def initialize(self, _version: str, build_data: dict[str, Any]) -> None:
        """Build, and say what the wheel is for: any machine, or this kind with any Python from 3.11 on."""
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
        extra_compile_args=["/std:c11"] if os.name == "nt" else ["-std=c11", "-O3", "-fvisibility=hidden"],
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
