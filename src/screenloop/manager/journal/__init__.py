"""What a manager must still know after it died: grants, fences, intents."""
