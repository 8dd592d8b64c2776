"""Verifiers: read Evidence and Claim, give a Verdict; they never act."""
