"""The journal: histories, the lists of owners and series, and the counts of live schedules."""
