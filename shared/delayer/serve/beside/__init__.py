"""What is done beside the turns, in threads: subscribers, events, code of others."""
