"""POST, PUT, PATCH, DELETE and GET of schedules: each is accepted, replaced, cancelled, stopped or shown."""
