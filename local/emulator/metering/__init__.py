"""Counts in the emulator what AWS would bill."""
