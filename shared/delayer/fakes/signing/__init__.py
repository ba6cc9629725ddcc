"""The control rows of signatures."""
