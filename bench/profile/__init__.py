"""Where the processor time of each function goes: ours, boto3's, that of the import."""
