"""Flow control decides which schedules wait although they are due: suspensions, circuits of targets that do not answer,
limits and their seats.
"""
