"""Names for the arrays that pass between modules, for annotations only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
"""Times in ns, and counts."""
Int8Array = NDArray[np.int8]
"""Codes of a few categories."""
Int32Array = NDArray[np.int32]
"""Codes of values that occur, -1 for none."""
UInt8Array = NDArray[np.uint8]
UInt16Array = NDArray[np.uint16]
UInt32Array = NDArray[np.uint32]
UInt64Array = NDArray[np.uint64]
"""References as a bundle stores them."""
UnsignedArray = UInt32Array | UInt64Array
"""References in either width that a bundle has."""
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IndexArray = NDArray[np.intp]
CodeArray = NDArray[np.integer]
"""Codes of categories, of any width."""
RecordArray = NDArray[np.void]
ObjectArray = NDArray[np.object_]
"""Texts, or null."""
AnyArray = NDArray[Any]
