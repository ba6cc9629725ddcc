"""What belongs to owners in AWS."""
