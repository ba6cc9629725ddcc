"""What keeps series going without an event: the net, and the rounds through directories."""
