"""Suggestions for a playbook, from files and from Claude."""
