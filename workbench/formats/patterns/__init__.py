"""agent-playbook's semantic patterns."""
