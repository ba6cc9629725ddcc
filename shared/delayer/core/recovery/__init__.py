"""What becomes of what cannot go on: dead letters, and how they are redriven."""
