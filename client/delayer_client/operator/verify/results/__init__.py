"""What a run found out, what it cost, and the table that says so."""
