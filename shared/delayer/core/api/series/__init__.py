"""What clients ask for of series."""
