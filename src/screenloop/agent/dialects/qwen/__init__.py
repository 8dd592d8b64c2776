"""The Qwen families."""
