"""Decides who gets in: no page but the console's own, and where a token is asked for, only a browser that has it."""
