"""The lanes of a trace as people look at them, before anything is drawn: which rows stand on which lane, what their
colors mean, and why a lane shows nothing. The terminal UI, the HTML report and exports draw them."""
