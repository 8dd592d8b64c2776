"""Hosts as child processes of this machine."""
