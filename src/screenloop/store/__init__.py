"""What survives a restart: blobs and episodes."""
