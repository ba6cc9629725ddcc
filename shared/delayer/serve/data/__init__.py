"""The data folder: its lock, its keys, its disk."""
