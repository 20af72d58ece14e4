"""The `tracekit` command: one thin module per command, an explicit list of them in `parser`."""
