"""What clients do to a series that is there."""
