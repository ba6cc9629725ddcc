"""Rules of recurrence: what `repeat` says, and the times that follow from it. Pure."""
