"""The events of Lambda, translated, and how one function asks another."""
