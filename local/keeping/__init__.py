"""The state that a stack on one machine keeps from a clean stop to the next start."""
