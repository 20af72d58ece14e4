"""What actions do. One function each, from the app; the table of actions names them."""
