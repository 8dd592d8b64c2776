"""Dialects of the tiny models that are trained here."""
