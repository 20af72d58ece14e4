"""What is known of each instrument, and the binders of its rows."""
