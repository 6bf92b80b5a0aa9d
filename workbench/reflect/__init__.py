"""Turning memories into insights: the reflectors, and what they read and say."""
