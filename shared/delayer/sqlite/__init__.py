"""The engine of the store on SQLite: a file of one machine, or the memory of one process."""
