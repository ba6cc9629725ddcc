"""What belongs to owners, in memory."""
