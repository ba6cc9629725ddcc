"""The control table: rows of which the whole stack has one."""
