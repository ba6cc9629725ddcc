"""The console, which is served beside the API."""
