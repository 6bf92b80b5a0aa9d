"""Memories: find, take in, vote, edit, forget."""
