"""The tables, and the stream of one."""
