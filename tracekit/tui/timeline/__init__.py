"""The lanes over time. Everything but `widget` works without a screen."""
