"""What an author of an executor or of a subscriber imports."""
