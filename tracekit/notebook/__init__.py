"""tracekit in a notebook: frames of recordings, results that show themselves as their pages, and plots."""
