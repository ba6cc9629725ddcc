"""The AWS adapters of the ports, and the only package that imports botocore."""
