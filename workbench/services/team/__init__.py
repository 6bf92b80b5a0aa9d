"""Stores that a team shares: how they are reached, delivered to, made, copied and looked after."""
