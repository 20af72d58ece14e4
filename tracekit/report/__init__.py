"""The report: one object, what is left out of it for privacy, and one renderer per format."""
