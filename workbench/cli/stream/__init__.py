"""Memories on the command line."""
