"""Putting changed records back into files that are somebody's own text."""
