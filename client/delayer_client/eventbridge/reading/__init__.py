"""Reads from EventBridge: from the account, or from files that `aws` has printed."""
