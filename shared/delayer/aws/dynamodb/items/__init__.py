"""What the tables share: items and their attributes, lists in due order, requests of many items."""
