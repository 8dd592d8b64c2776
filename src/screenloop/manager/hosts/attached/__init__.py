"""Hosts and browsers that somebody else runs."""
