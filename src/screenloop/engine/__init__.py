"""Torch policies: tiny models that can learn, and a token-exact engine for any model."""
