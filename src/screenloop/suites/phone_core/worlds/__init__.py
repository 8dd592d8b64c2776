"""What tasks start from: people, money, times and records of a world."""
