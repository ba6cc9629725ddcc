"""One module for each kind of promise: what is scheduled for it, and what must come of it."""
