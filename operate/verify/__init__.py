"""`python -m operate.verify`: checks what a deployed stack promises, by using it."""
