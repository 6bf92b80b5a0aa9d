"""The Stream and the history of its records."""
