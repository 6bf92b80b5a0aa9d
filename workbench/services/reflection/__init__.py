"""From the latest memories to candidates."""
