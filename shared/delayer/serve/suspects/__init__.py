"""What the process may have died with."""
