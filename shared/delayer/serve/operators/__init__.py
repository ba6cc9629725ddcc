"""Operators, and how they are answered."""
