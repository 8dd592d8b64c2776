"""screenloop: one loop from screen to action for GUI agents."""

__version__ = "0.1.0"
