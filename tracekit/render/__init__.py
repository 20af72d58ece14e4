"""How documents look: the block model and one back end each for text, Markdown and HTML."""
