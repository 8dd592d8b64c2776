"""How much of each prompt a server's prefix cache already holds."""
