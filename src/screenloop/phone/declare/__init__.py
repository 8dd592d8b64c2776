"""What the author of an app writes with: state, actions, pages; no device in it."""
