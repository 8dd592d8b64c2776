"""One running phone: its state, what is on its screen, and the touches that change it."""
