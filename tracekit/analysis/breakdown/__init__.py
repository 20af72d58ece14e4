"""Where the time of each prediction went."""
