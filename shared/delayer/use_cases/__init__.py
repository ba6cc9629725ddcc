"""What each function does: ports in, decisions from the core carried out."""
