"""Says in the words of Delayer what EventBridge has. Nothing here reads or writes anything."""
