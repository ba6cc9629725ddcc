"""The doctor looks at these. Each module asks one source, and judges nothing."""
