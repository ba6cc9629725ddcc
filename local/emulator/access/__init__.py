"""Who may use the AWS port: programs that sign with a key that this run has issued."""
