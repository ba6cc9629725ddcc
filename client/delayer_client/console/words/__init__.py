"""The console's texts, in people's words."""
