"""Hosts as Pods of a Kubernetes cluster."""
