"""Health and its parts."""
