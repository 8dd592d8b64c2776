"""Tasks across several apps."""
