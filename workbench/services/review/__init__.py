"""Deciding on what waits, and what a decision rests on."""
