"""The engine that keeps rows, messages, objects and secrets in one file of SQLite, and in memory the same."""
