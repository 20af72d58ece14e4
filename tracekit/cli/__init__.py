"""The `tracekit` command: a list of all commands in `commands`, and thin modules that run them."""
