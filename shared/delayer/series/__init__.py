"""A schedule that is put again and again, by a rule."""
