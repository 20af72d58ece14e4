"""Frames that came late, hangs, and which model made them so."""
