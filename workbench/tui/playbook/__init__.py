"""The Playbook: sections of bullets, and its tools."""
