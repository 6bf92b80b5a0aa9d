"""claude-mem: its export and its database."""
