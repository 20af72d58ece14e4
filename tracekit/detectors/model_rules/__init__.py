"""Checks of model files, one module each."""
