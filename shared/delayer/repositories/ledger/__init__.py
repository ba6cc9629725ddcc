"""The ledger: one row for each schedule, changed under conditions only."""
