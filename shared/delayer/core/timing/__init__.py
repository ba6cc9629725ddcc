"""When something is due whose time the client left open: decided by a policy, or within a window."""
