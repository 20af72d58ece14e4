"""Performance reports and compute plans: `load_performance_report(path)` gives one form of them, whatever wrote them.

Needs neither coremltools nor a Mac. Knows nothing of recordings.
"""
