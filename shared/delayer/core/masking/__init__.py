"""What is shown of secrets: nothing."""
