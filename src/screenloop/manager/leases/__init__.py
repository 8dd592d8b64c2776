"""Who holds what, and in which order operations under a Lease are carried out."""
