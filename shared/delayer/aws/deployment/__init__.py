"""What CloudFormation and the registered actions look like in AWS."""
