"""What EventBridge has, in the words of Delayer. Nothing here reads or writes anything."""
