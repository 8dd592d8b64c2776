"""What a lease operation costs, and random schedules that try to break the rules."""
