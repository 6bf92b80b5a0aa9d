"""The commands for patterns."""
