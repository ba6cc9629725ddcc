"""One class for each function on the firing path."""
