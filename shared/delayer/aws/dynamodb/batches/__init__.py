"""Many changes of items in one request, each with its own condition and its own answer."""
