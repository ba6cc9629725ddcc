"""Owner policies, as they are known and as they are written."""
