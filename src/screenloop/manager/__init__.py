"""The manager hands out Instances by Lease and carries the five operations."""
