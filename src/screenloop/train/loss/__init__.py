"""From log-probabilities to one number to minimise."""
