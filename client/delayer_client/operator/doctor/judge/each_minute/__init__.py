"""Judges what runs each minute: the tick, and the canary that it sends."""
