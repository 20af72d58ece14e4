"""How much a bundle may ask of the reader. Real bundles stay far below each of these."""

from __future__ import annotations

MAX_FILES = 50_000
"""Files of one bundle. A three-run recording has about 600; symbols add a few hundred."""

MAX_FOLDER_DEPTH = 12
"""Levels of folders. Seven were seen."""

MAX_RUNS = 1_000
"""Runs of one bundle."""

MAX_STORES = 5_000
"""Tables of one run. 90 were seen."""

MAX_DESCRIPTION_BYTES = 16 * 1024**2
"""Size of a schema, descriptor, table list or instrument file, inflated. The largest known has 50 kB."""

MAX_TEMPLATE_BYTES = 128 * 1024**2
"""Size of `form.template`, which is read whole. 1.2 MB were seen."""

MAX_STRINGS_BYTES = 1024**3
"""Size of the list of strings, inflated. 365,469 strings (25 MB) were seen."""

MAX_ARRAYS_BYTES = 4 * 1024**3
"""Size of the file of shared arrays, inflated."""

MAX_ISSUES_BYTES = 64 * 1024**2
"""Size of the database of run issues."""

MAX_ROWS_BYTES = 32 * 1024**3
"""Size of the rows of one table, inflated."""

MAX_ROWS = 200_000_000
"""Rows of one table. 897,679 were seen."""

MAX_COLUMNS = 512
"""Columns of one table. 22 were seen."""

MAX_INFLATION = 250
"""Rows in relation to their compressed size. Rows shrink 3 to 15 times."""

INFLATION_FREE_BYTES = 64 * 1024**2
"""Rows up to this size are not asked for their compression ratio: they cannot harm."""

MAX_STRING_CHARS = 4 * 1024**2
"""Characters of one string."""

MAX_TEXT_CHARS = 512 * 1024**2
"""Characters of all texts that one column's labels or call stacks add up to."""

MAX_NESTING = 16
"""Levels of labels inside labels."""

MAX_ISSUES = 1_000
"""Issues listed per run."""
