"""One way to serve HTTP and to call it."""
