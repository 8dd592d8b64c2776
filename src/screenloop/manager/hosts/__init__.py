"""Hosts run Instances; launchers start hosts. One folder, one file a way of doing it."""
