"""MiniWoB++ pages in a real browser, beside a peer."""
