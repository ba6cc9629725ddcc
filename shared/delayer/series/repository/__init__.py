"""The rows of these ports, on the store."""
