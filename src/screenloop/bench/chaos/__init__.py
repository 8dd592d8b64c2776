"""Episodes through a manager whose processes, disk, network and clock go wrong."""
