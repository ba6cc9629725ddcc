"""What runs in processes of its own: they import nothing of the project but each other."""
