"""Patterns: what a person and an agent can do with them."""
