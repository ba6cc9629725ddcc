"""Decides what waits although it is due: suspensions, and the circuits of targets that do not answer."""
