"""Pixels, and the live page."""
