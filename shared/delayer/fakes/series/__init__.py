"""What keeps series going, in memory."""
