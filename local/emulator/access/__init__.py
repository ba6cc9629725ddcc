"""Lets only those use the AWS port that sign with a key that this run has issued."""
