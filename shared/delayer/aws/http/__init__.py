"""Requests and answers of an API Gateway HTTP API, payload format 2.0."""
