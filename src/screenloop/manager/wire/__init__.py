"""What travels between clients, managers and hosts."""
