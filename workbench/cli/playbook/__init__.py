"""Playbooks on the command line."""
