"""`make deploy`: what is read and edited, template.yaml, becomes what CloudFormation is given."""
