"""Signs requests, shows owners their secrets and rotates them, and keeps the keys of the stack."""
