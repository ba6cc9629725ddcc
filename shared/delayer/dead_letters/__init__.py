"""Dead letters cannot go on and must not be lost: they are stored, listed, redriven, discarded."""
