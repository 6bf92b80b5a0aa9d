"""A person's files: what the store knows of them, and when their bytes may be replaced."""
