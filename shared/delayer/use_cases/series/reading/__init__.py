"""What clients ask of series."""
