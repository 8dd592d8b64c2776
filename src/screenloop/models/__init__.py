"""Model clients: chat in, text out, with whatever the server tells about tokens."""
