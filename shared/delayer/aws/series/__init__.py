"""Series in DynamoDB."""
