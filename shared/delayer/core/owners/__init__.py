"""What an operator says that an owner may do."""
