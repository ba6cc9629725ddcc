"""Messages with which the process may have died."""
