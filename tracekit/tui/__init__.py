"""The terminal UI: `tracekit view`. Textual is imported here and nowhere else."""
