"""An operator says which actions an owner may schedule, and how many."""
