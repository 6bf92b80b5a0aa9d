"""Skillbook JSON."""
