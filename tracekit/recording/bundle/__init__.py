"""Reads `.trace` bundles natively: the document that Instruments and `xctrace record` write.

Apple does not document the format. Facts were taken from bundles of Instruments 16.0 (Xcode 16.2 and 16.4) and
macOS 26.1, and checked against exports of the same recordings. What a guard does not recognize is not read.
"""

from __future__ import annotations


class DamageError(Exception):
    """A part of the bundle is absent, broken or of an unknown form.

    The text says which part and why, without a full stop. Only the tables that need the part are lost.
    """
