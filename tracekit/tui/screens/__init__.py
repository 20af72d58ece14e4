"""Whole screens: opening, browsing, trouble, help."""
