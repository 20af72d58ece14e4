"""Apple's command line tool: found through PATH, called with time-outs, its answers checked."""
