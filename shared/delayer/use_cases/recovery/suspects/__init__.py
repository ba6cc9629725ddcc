"""The queue of suspects."""
