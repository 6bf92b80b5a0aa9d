"""Lists and texts that draw only what is in sight."""
