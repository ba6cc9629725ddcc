"""Commands of an operator, for a stack in AWS or on one machine: one module each (ADR 0074)."""
