"""JSON Schemas, whoever wrote them."""
