"""Resets, touches and frames of mocked phones, one and twenty thousand."""
