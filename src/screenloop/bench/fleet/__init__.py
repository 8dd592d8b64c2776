"""The manager's own decisions over fleets that only take time."""
