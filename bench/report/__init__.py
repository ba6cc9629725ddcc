"""The report of a run: tables, targets, and a file with all figures."""
