"""Reader of the XML that `xctrace export` writes."""
