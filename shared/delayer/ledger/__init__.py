"""The ledger decides: the row, the lifecycle through which each row is made, the claim, the outcome."""
