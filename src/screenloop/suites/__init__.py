"""Task packs: suites of Tasks by name."""
