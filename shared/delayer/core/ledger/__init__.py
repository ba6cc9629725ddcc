"""Who decides: the ledger row, the table of the lifecycle through which each row is made, the claim, the outcome."""
