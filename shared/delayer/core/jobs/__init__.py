"""Jobs that run in the background."""
