"""Fakes and faults for tests, of this project and of others; the product imports none of it."""
