"""What the console says, in people's words."""
