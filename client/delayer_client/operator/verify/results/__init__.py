"""The findings of a run, its cost, and the table that shows them."""
