"""What can be seen of a manager: metrics, logs, a table, a check-up."""
