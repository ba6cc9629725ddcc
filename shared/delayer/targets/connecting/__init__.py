"""How a connection to a target is made: its name is looked up, and it is cut at its deadline."""
