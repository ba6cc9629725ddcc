"""The records of what is still to be enqueued, in the table of their lane."""
