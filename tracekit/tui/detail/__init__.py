"""The panes of the detail area.

`pane` says what one is, `listing` is one of a single list, `rowlist` draws any number of rows, `columns` fits them.
"""
