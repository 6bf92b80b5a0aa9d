"""Widgets that any screen may use."""
