"""Environments: devices and sites that reset exactly; they know nothing of models or verdicts."""
