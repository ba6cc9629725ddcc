"""The engines on SQLite, for one machine: the store of items, objects, secrets."""
