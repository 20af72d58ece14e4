"""Native `.trace` bundles of scenarios, written from an own knowledge of the format."""
