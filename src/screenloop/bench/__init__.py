"""Benches: the figures of docs/measurements.md, each a function that returns a struct."""
