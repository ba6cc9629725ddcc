"""Makes the attempts at a target, and writes how each ended."""
