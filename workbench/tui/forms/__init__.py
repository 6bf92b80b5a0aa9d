"""The form of a record: its text, and every other field as a line below."""
