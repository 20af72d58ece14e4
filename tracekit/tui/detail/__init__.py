"""The panes of the detail area, below the timeline."""
