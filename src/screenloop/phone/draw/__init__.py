"""What a page looks like: widgets, pictures, fonts, colours; nothing of apps or devices."""
