"""Decides when an attempt may be made at a target that takes only so many (ADR 0114)."""
