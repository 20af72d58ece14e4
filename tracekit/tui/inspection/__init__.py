"""What the inspector says about each kind of thing that can be selected."""
