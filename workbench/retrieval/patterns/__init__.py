"""Patterns by what they ask of a task."""
