"""Writes a model again without what a check found in it: `remedies.py` says for which findings, and how it is typed."""
