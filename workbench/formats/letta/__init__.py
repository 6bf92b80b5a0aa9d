"""Letta agent files."""
