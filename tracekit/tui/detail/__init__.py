"""The panes of the detail area.

`pane` says what one is, `rowlist` draws any number of rows, `columns` fits them, `registry` lists them.
"""
