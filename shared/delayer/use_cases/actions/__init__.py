"""Action types: registered, and looked up."""
