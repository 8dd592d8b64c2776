"""What an attempt is worth, and which of its tokens earned it."""
