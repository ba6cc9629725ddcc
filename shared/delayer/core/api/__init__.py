"""What a client may ask, and what it is answered."""
