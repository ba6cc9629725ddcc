"""Signatures by which a target knows that a request is Delayer's: keys, secrets, how long each of them signs."""
