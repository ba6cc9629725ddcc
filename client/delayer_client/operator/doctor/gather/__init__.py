"""What the doctor looks at. Each module asks one source, and judges nothing."""
