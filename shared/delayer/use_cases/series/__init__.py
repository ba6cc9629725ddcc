"""What happens to series."""
