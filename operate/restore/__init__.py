"""`python -m operate.restore`: copies restored tables into a stack, in the order that keeps the promises."""
