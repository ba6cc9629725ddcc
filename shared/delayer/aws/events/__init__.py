"""The events that wake the functions, translated."""
