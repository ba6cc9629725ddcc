"""The engine of the store on DynamoDB."""
