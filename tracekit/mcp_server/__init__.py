"""`tracekit mcp`: what agents ask of recordings, over the Model Context Protocol. `folders.py` says which paths may be
read, `kept.py` reads a recording once, `answers.py` answers without a word of the protocol, `server.py` speaks it."""
