"""Carries out: ports in, decisions of the rules carried out."""
