"""From Episodes to Samples: token-exact records, windows, demonstrations, splits."""
