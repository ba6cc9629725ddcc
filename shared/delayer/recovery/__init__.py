"""A message or record of which a function dies is handled alone; a killer is told from an outage; the canary shows that
the path works.
"""
