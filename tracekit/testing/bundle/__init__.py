"""Native `.trace` bundles of scenarios, written from an own knowledge of the format."""

from __future__ import annotations

from tracekit.testing.bundle.write import bundle_files, write_bundle

__all__ = ["bundle_files", "write_bundle"]
