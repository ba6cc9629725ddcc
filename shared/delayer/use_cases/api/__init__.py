"""One class for each call of the API."""
