"""What waits for its time: sent to the function of its policy, found again, and decided."""
