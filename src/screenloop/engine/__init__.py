"""Torch policies: a tiny model that can learn, and an engine that serves any policy token-exactly."""
