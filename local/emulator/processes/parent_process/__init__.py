"""This runs in the parents and in the processes that they fork."""
