"""Carries out limits of rate: books turns in lines, and waits for them (ADR 0114)."""
