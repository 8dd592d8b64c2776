"""A real Chromium: start it, speak CDP to it, leave nothing behind."""
