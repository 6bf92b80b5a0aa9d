"""Promoting on the command line."""
