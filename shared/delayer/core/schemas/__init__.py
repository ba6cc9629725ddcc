"""JSON as others write it: its texts, and the schemas that say what may stand in them."""
