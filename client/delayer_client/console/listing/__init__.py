"""What is read from the API for a page, and what follows from it."""
