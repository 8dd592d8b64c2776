"""The one path from a Task to a Verdict; the only place that joins agent and manager."""
