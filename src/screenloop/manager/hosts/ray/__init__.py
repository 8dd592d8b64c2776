"""Hosts as actors of a Ray cluster."""
