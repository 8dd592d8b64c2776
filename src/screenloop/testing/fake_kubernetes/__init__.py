"""A Kubernetes API in memory, with faults that can be switched on."""
