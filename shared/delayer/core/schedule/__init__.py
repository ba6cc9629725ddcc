"""What a schedule is: its time, its address, its id, its definition, and the messages that carry it."""
