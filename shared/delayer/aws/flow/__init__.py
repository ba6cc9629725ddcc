"""The rows of what waits although it is due, in DynamoDB."""
