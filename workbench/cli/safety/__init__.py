"""Secrets, orders and trust on the command line."""
