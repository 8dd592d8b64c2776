"""What an update may be learnt from, and when a run stops itself."""
