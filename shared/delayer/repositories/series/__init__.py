"""Series: cursors, definitions, current occurrences, directories, and how far their net is."""
