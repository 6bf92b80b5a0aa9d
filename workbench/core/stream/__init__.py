"""Memories: the record, what filters them, votes on them, and how much they matter."""
