"""The use cases of connections."""
