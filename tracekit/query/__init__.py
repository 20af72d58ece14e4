"""SQL over one recording: views with stable names, and the locked-down database that answers queries.

Views are the frames of a trace and parts of its report, registered with DuckDB as they are, and only when a query reads
them. What was not recorded travels with each answer (`ViewCoverage`).
"""
