"""Numbers from a trace: statistics, aggregation, concurrency, copies. Pure functions without wording or thresholds."""
