"""The command `python -m local`: its options, its demonstration, what it prints."""
