"""When something is due whose time the client left open: within a window, or in business hours."""
