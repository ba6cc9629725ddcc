"""Fakes of what keeps schedules waiting although they are due."""
