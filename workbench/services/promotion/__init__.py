"""Placing knowledge where agents read it, and keeping it in step with the store."""
