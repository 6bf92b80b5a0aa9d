"""Reflecting on the command line."""
