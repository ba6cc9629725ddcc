"""One turn after the other: what is due, calls, outcomes, and what follows from them."""
