"""A package outside of screenloop that adds one of each thing."""
