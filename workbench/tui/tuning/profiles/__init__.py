"""Snapshots and profiles."""
