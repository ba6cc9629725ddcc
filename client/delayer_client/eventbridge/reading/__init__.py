"""What EventBridge has: read from the account, or from files that `aws` has printed."""
