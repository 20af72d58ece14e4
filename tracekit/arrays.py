"""Names for the arrays that pass between modules, for annotations only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
"""Times in ns, and counts."""
UInt64Array = NDArray[np.uint64]
"""References as a bundle stores them."""
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
"""Masks."""
IndexArray = NDArray[np.intp]
"""Positions in other arrays."""
CodeArray = NDArray[np.integer]
"""Codes of categories, of any width."""
