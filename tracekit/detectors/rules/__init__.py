"""The rules: one module per antipattern, with its texts."""
