"""What holds up schedules that are due: blocks, and the lines and seats of limits."""
