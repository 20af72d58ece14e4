"""What runs models beside Core ML: a TOML file for each runtime, and what its signposts mean on the lanes."""
