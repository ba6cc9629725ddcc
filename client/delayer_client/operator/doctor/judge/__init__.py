"""The doctor concludes: facts in, findings out, and nothing is asked here."""
