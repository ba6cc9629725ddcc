"""Threads beside the turns: subscribers, events, code of others."""
