"""How much a bundle may ask of the reader. Real bundles stay far below each of these."""

from __future__ import annotations

MAX_FILES = 50_000
"""Files of one bundle. A three-run recording has about 600; symbols add a few hundred."""

MAX_FOLDER_DEPTH = 12
"""Levels of folders. Seven were seen."""

MAX_RUNS = 200
"""Runs of one bundle. Three were seen."""

MAX_STORES = 5_000
"""Tables of one run. 90 were seen."""

MAX_DESCRIPTION_BYTES = 16 * 1024**2
"""Size of a schema, descriptor, table list or instrument file, inflated. The largest known has 50 kB."""

MAX_TEMPLATE_BYTES = 128 * 1024**2
"""Size of `form.template`, which is read whole. 1.2 MB were seen."""

MAX_STRINGS_BYTES = 256 * 1024**2
"""Size of the list of strings, inflated. 365,469 strings (25 MB) were seen."""

MAX_ARRAYS_BYTES = 512 * 1024**2
"""Size of the file of shared arrays, inflated. 4 MB were seen."""

MAX_ARRAY_INDEX_BYTES = 32 * 1024**2
"""Size of the list of shared arrays, inflated: eight bytes for each. 37,318 arrays were seen."""

MAX_OBJECTS = 2_000_000
"""Objects of one property list. 365,469 strings were seen."""

MAX_VISITS = 16
"""How often all members of an archive may be looked at, in relation to its bytes: its objects are shared."""

MAX_ATTRIBUTE_DEPTH = 8
"""Levels of lists inside an attribute of a table. One was seen."""

MAX_ATTRIBUTE_CHARS = 1024**2
"""Characters that the attributes of all tables of one list add up to. 30,000 were seen."""

MAX_ISSUES_BYTES = 16 * 1024**2
"""Size of the database of run issues. 53 kB were seen."""

MAX_ISSUE_STEPS = 300_000
"""Instructions of the database engine for reading run issues. Some hundred are usual."""

MAX_ISSUE_BYTES = 100_000
"""Size of one value in the database of run issues."""

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

MAX_SHARED_INFLATION = 64
"""Strings and shared arrays in relation to their compressed size. They shrink 8 to 26 times."""

STRINGS_FREE_BYTES = 16 * 1024**2
"""Strings up to this size are not asked for their compression ratio."""

SHARED_FREE_BYTES = 128 * 1024**2
"""Shared arrays up to this size may compress as they like: those of a run that has not begun are 100 MB of zeros."""

MAX_STRING_CHARS = 4 * 1024**2
"""Characters of one string."""

MAX_TEXT_CHARS = 2 * 1024**3
"""Characters of the labels, threads and call stacks of all tables of a run. 6 million were seen."""

MAX_TEXT_GROWTH = 64
"""The same in relation to the bytes of the bundle. They have less than half as many as their bundle has bytes."""

TEXT_FREE_CHARS = 32 * 1024**2
"""Characters that any bundle may have beyond that."""

MAX_PATTERNS = 20_000
"""Different sequences of types among the labels of one column; each is composed on its own."""

MAX_NESTING = 16
"""Levels of labels inside labels."""

MAX_ISSUES = 1_000
"""Issues listed per run."""

MAX_ARCHIVES = 2_000
"""Symbol archives of one bundle. 81 were seen."""

MAX_ARCHIVE_BYTES = 64 * 1024**2
"""Size of one symbol archive. 174 kB were seen."""

MAX_ALL_ARCHIVES_BYTES = 512 * 1024**2
"""Size of all symbol archives. 0.6 MB were seen."""

MAX_SYMBOL_CHARS = 64 * 1024
"""Bytes of a function's name. 4.3 kB were seen."""

MAX_INLINED_DEPTH = 64
"""Levels of inlined calls. 15 were seen."""

MAX_IMAGES = 100_000
"""Images that a run maps. 1032 were seen."""

MAX_UNMAPS = 1_000
"""How often images are unmapped in a run. One was seen; each splits the run in two for looking up addresses."""

MAX_FRAMES = 64 * 1024**2
"""Frames of the different call stacks of a table. 2.7 million were seen in all tables of all bundles."""
