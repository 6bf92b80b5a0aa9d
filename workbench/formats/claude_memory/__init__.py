"""Claude Code's own memory files."""
