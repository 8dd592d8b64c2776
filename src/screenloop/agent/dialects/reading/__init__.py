"""Reading what models write: calls, fields, JSON, tags; nothing of one family."""
