"""How much a file may ask of the reader.

Real exports stay far below each of these. What exceeds one is refused, so that no input, however it was made, takes
more memory than its tables need or keeps the reader busy for ever.
"""

from __future__ import annotations

MAX_PROLOG_BYTES = 1024 * 1024
"""Bytes before the root element. Exports have one declaration there; authors add a comment at most."""

MAX_ROW_BYTES = 4 * 1024 * 1024
"""Bytes that may pass without a row, schema or node coming to its end. The longest rows known hold prompts of a few
hundred kilobytes; a text node that never ends is noticed here."""

MAX_TEXT_CHARS = 1024 * 1024
"""Characters of one value."""

MAX_COMPOSED_GROWTH = 16
"""Bytes that texts put together from parts take in memory, in relation to the bytes of their file: a part is referred
to in 16 bytes. Real exports take 1.3 at most."""

COMPOSED_FREE_BYTES = 64 * 1024**2
"""Bytes that such texts of any file may take beyond that."""

MAX_ROW_ELEMENTS = 50_000
"""Elements inside one row. The deepest call stacks have a few thousand frames."""

MAX_DEPTH = 24
"""Levels of elements inside one cell. Six were seen (stack, frame, source, path)."""

MAX_COLUMNS = 512
"""Columns of one schema. 22 were seen."""

MAX_FILE_COLUMNS = 50_000
"""Columns of all tables of one file: each is an array. 22 columns and 100 tables a run are the most that was seen."""

MAX_COLUMN_PARTS = 16
"""Different elements that describe columns in one file. Three were seen."""

MAX_ROWS = 200_000_000
"""Rows of one table. The largest table known has 3 million."""

MAX_NODES = 20_000
"""Nodes of one file. A recording has about a hundred tables a run."""

MAX_TAGS = 4_096
"""Different element names among the cells of one file. Instruments has about 280 engineering types."""

MAX_NAMES = 65_536
"""Different names of elements and attributes in one file, including words of texts that look like attributes."""

MAX_SIGNATURES = 60_000
"""Different patterns of missing cells in one table; each is kept once."""

MAX_DISTINCT_VALUES = 2**31 - 2
"""Distinct values of one file: codes are 32-bit."""

MAX_FORWARD_REFERENCES = 10_000
"""Cells that wait for a value defined further on. No export has one; hand-made files have a few."""

MAX_ATTEMPTS = 64
"""How often one waiting cell is tried again."""

MAX_WAITING_ELEMENTS = 200_000
"""Elements inside waiting cells, and elements that are looked at again."""

MAX_HANDMADE_ROWS = 100_000
"""Rows of a table whose schema lists no columns. Only hand-made files look like that, and they are small."""

MAX_RUNS = 1_000
"""Runs of one table of contents. Three were seen."""

MAX_LISTED_TABLES = 20_000
"""Tables of one table of contents. A recording has about a hundred a run."""

MAX_NOTES = 50
"""Notes on the files of one input; more are counted."""

MAX_TOC_BYTES = 4 * 1024 * 1024
"""Size of a table of contents, which is read whole. The largest known has 21 kB."""
