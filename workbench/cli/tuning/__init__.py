"""Measuring and tuning on the command line."""
