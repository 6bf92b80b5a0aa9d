"""Forms of records: every field as a line, read back into values, and saved as one action."""
