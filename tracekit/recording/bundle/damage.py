"""What does not hold in a part of a bundle."""

from __future__ import annotations


class DamageError(Exception):
    """A part of the bundle is absent, broken or of an unknown form.

    The text says which part and why, without a full stop. Only the tables that need the part are lost.
    """
