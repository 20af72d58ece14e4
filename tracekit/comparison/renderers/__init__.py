"""A comparison in the forms in which people and programs read it."""
