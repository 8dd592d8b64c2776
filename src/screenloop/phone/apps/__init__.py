"""Mocked apps, one file each."""
