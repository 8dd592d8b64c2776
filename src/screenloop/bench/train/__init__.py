"""What an update and a long run cost."""
