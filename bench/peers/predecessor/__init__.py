"""A small model of delayer-aws (2018): its algorithm, with SQLite in the place of DynamoDB and SQS."""
