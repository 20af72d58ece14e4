"""The release that a checkout leads to. What is built says its own version here: see `hatch_version.py`."""

__version__ = "0.1.0.dev0"
