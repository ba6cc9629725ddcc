"""The author of an executor or of a subscriber imports from here."""
