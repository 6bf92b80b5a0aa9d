"""Telling agents to run the workbench's hooks, and taking that back."""
