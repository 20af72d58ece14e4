"""How much an input may ask of any reader: files, archives, times. Each reader has limits of its own besides.

Real recordings stay far below each of these. What exceeds one is refused.
"""

from __future__ import annotations

CHUNK_BYTES = 64 * 1024
"""Bytes handed to the XML parser at a time; its tree never holds more than the rows of about one chunk."""

MAX_TIME_NS = 2**53 - 1
"""Longest time or duration, 104 days. Apple's times have 50 bits; with three more each is exact as a float."""

MAX_TIME_SUM_NS = 2**56
"""Sum of the durations of one column, 834 days: two thousand threads over ten hours. Sums over a hundred such columns
still fit into 64 bits, and no sum of a report can wrap around."""

MAX_FILES = 10_000
"""Files in one folder or archive."""

MAX_FOLDER_DEPTH = 8
"""Levels of folders searched for exports."""

MAX_UNPACKED_BYTES = 64 * 1024**3
"""Sum of the sizes that an archive declares for its members."""

MAX_COMPRESSION_RATIO = 250
"""Size of an archive member in relation to its packed size. Exports pack 10 to 60 times; zip bombs about 1,000."""

RATIO_FREE_BYTES = 1024 * 1024
"""Members up to this size are not asked for their compression ratio: they cannot harm."""

UNPACKED_FREE_BYTES = 256 * 1024 * 1024
"""Archives up to this size unpacked are not asked for the compression ratio of all their members together."""

MAX_DIRECTORY_BYTES = 16 * 1024 * 1024
"""Size of the list of members of an archive, which is read whole."""
