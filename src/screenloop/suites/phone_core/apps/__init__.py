"""Tasks within one app."""
