"""One small store of items under all ports that keep rows: eight operations, conditions as data (ADR 0170)."""
