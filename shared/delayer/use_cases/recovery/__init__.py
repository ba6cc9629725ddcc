"""Dead letters: stored, drained, redriven."""
