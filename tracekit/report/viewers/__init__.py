"""A recording for other timeline viewers: its lanes, counters and findings as tracks, and one writer per format."""
