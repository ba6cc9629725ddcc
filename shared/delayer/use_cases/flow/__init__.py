"""Keeps a slow, dead or suspended target from harming others."""
